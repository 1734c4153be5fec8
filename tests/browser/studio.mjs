// A studio of its own for a test: started, asked for its address, killed.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from './browser.mjs';
import { useLaunchLink } from './cookies.mjs';

/** Start the binary; `folder` holds what it saves and keeps. */
export async function startStudio(folder, { port = 0, file } = {}) {
  const root = join(folder, 'root');
  mkdirSync(root, { recursive: true });
  const args = ['studio', '--no-open', '--json', '--port', String(port), '--root', root, ...(file ? [file] : [])];
  const env = { ...process.env, SINEW_HOME: join(folder, 'home') };
  const child = spawn(process.env.SINEW_BINARY, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const link = await new Promise((found, fail) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      if (text.includes('\n')) found(JSON.parse(text).url);
    });
    child.on('exit', (code) => fail(new Error(`the studio ended with ${code}: ${text}`)));
  });
  const url = await useLaunchLink(link);
  const kill = () =>
    new Promise((done) => {
      if (child.signalCode !== null || child.exitCode !== null) return done();
      child.removeAllListeners('exit');
      child.on('exit', done);
      child.kill('SIGKILL');
    });
  /** Wait until the work is on disk, where the next studio finds it: a journal of this one with a step in it. */
  const kept = async () => {
    const home = join(folder, 'home');
    const end = Date.now() + 60_000;
    const lines = (path) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0);
    const isKept = () =>
      readdirSync(home, { recursive: true }).some(
        (name) => name.endsWith('journal.jsonl') && name.includes(`-${child.pid}-`) && lines(join(home, name)) >= 2,
      );
    while (!existsSync(home) || !isKept()) {
      if (Date.now() > end) throw new Error('the work never came to the disk');
      await sleep(50);
    }
  };
  return { url, root, port: Number(new URL(url).port), pid: child.pid, kill, kept };
}
