// Khronos validator. Usage: validate.mjs FILE…; exit 1 on any error or warning; notes are only counted. Of FILE=SOURCE, messages
// that SOURCE has too do not count.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const tools = process.env.SINEW_TOOLS ?? path.join(import.meta.dirname, "../../.tools");
const validator = createRequire(path.join(tools, "npm/x.cjs"))("gltf-validator");
const SEVERITIES = ["error", "warning", "info", "hint"];

async function judge(file) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: file,
    maxIssues: 0,
    externalResourceFunction: async (uri) =>
      new Uint8Array(fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(uri)))),
  });
  return report.issues;
}

for (const argument of process.argv.slice(2)) {
  const [file, source] = argument.split("=");
  const key = ({ code, pointer }) => `${code} ${pointer}`;
  const known = new Set(source ? (await judge(source)).messages.map(key) : []);
  const { numInfos, numHints, messages } = await judge(file);
  const serious = messages.filter((message) => message.severity < 2 && !known.has(key(message)));
  const numErrors = serious.filter((message) => message.severity === 0).length;
  const numWarnings = serious.length - numErrors;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos + numHints} notes`);
  for (const { severity, code, pointer, message } of serious.slice(0, 20)) {
    console.log(`  ${SEVERITIES[severity]} ${code} ${pointer ?? ""} ${message}`);
  }
  if (numErrors + numWarnings > 0) process.exitCode = 1;
}
