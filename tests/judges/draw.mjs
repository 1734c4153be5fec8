// three.js as a painter: glTF files at rest, in neutral light, all with the camera of the first one.
// It reads jobs from standard input, a line each: {"files": [glb, gltf or vrm], "out": [png], "size": pixels}, or, instead of
// a size, {"camera": {"width", "height", "view", "projection"}}, whose picture has no background; and answers each
// with a line {"faults": [null or what went wrong, per file], "box": [[x, y, z], [x, y, z]]}. The end of the input ends it.
// SINEW_TOOLS is the folder in which tests/judges/install puts three.js; SINEW_CHROMIUM names the browser.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";

const tools = process.env.SINEW_TOOLS ?? path.join(import.meta.dirname, "../../.tools");
const three = path.join(tools, "npm/node_modules/three");
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };

/** Folders of the files that are drawn, by number: a glTF file has its buffers and pictures beside it. */
const folders = [];

const PAGE = `<!doctype html><body style="margin:0"><script type="importmap">
{"imports": {"three": "/three/build/three.module.js", "three/addons/": "/three/examples/jsm/"}}
</script><script type="module">
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { DRACOLoader } from "three/addons/loaders/DRACOLoader.js";
import { KTX2Loader } from "three/addons/loaders/KTX2Loader.js";
import { MeshoptDecoder } from "three/addons/libs/meshopt_decoder.module.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";

const renderer = new THREE.WebGLRenderer({ preserveDrawingBuffer: true, antialias: true, alpha: true });
renderer.toneMapping = THREE.NeutralToneMapping;
const light = new THREE.PMREMGenerator(renderer).fromScene(new RoomEnvironment(), 0.04).texture;
const loader = new GLTFLoader();
loader.setDRACOLoader(new DRACOLoader().setDecoderPath("/three/examples/jsm/libs/draco/"));
loader.setKTX2Loader(new KTX2Loader().setTranscoderPath("/three/examples/jsm/libs/basis/").detectSupport(renderer));
loader.setMeshoptDecoder(MeshoptDecoder);

/** The box around all vertices that are numbers, or nothing. */
function boxOf(root) {
  const box = new THREE.Box3();
  const point = new THREE.Vector3();
  root.traverse((object) => {
    const copies = object.isInstancedMesh ? object.count : 1;
    const local = new THREE.Matrix4();
    for (let copy = 0; copy < copies; copy += 1) {
      if (object.isInstancedMesh) object.getMatrixAt(copy, local);
      const world = object.matrixWorld.clone().multiply(local);
      for (let k = 0; k < (object.isMesh ? object.geometry.attributes.position.count : 0); k += 1) {
        object.getVertexPosition(k, point).applyMatrix4(world);
        if (point.toArray().every(Number.isFinite)) box.expandByPoint(point);
      }
    }
  });
  return box.isEmpty() ? null : [box.min.toArray(), box.max.toArray()];
}

function cameraFor([low, high]) {
  const box = new THREE.Box3(new THREE.Vector3(...low), new THREE.Vector3(...high));
  const { center, radius } = box.getBoundingSphere(new THREE.Sphere());
  const size = Math.max(radius, 1e-9);
  const camera = new THREE.PerspectiveCamera(30, 1, size * 0.05, size * 20);
  camera.position.copy(center).add(new THREE.Vector3(0.5, 0.25, 1).normalize().multiplyScalar(size / Math.sin(Math.PI / 12)));
  camera.lookAt(center);
  return camera;
}

/** A camera of which only the matrices are known. */
function givenCamera({ view, projection }) {
  const camera = new THREE.PerspectiveCamera();
  camera.matrix.fromArray(view).invert();
  camera.matrix.decompose(camera.position, camera.quaternion, camera.scale);
  camera.projectionMatrix.fromArray(projection);
  camera.projectionMatrixInverse.copy(camera.projectionMatrix).invert();
  return camera;
}

/** The picture of a file as a data URI, and the box around it; the box or camera given decides from where. */
async function draw(url, size, box, given) {
  const gltf = await loader.loadAsync(url);
  const root = gltf.scene ?? gltf.scenes[0];
  const scene = new THREE.Scene();
  scene.environment = light;
  scene.background = given ? null : new THREE.Color(0x808080);
  if (root) scene.add(root);
  const lamps = [];
  root?.traverse((object) => { if (given && object.isLight) lamps.push(object); });
  lamps.forEach((lamp) => lamp.removeFromParent());
  scene.updateMatrixWorld(true);
  scene.traverse((object) => { object.frustumCulled = false; });
  box ??= root ? boxOf(root) : null;
  if (!box) throw new Error("there is nothing to draw");
  renderer.setSize(given?.width ?? size, given?.height ?? size, false);
  renderer.render(scene, given ? givenCamera(given) : cameraFor(box));
  const picture = renderer.domElement.toDataURL("image/png");
  scene.traverse((object) => {
    object.geometry?.dispose();
    for (const material of [object.material].flat().filter(Boolean)) {
      for (const value of Object.values(material)) if (value?.isTexture) value.dispose();
      material.dispose();
    }
  });
  renderer.renderLists.dispose();
  return { picture, box };
}
window.draw = draw;
</script>`;

/** The file that a request asks for, below the folder it names. */
function fileOf(url) {
  const [, root, ...rest] = new URL(url, "http://x").pathname.split("/").map(decodeURIComponent);
  const base = root === "three" ? three : folders[Number(root)];
  const file = base && path.resolve(base, rest.join("/"));
  return file?.startsWith(path.resolve(base) + path.sep) ? file : null;
}

function serve(request, response) {
  if (request.url === "/") {
    response.writeHead(200, { "content-type": "text/html" });
    return response.end(PAGE);
  }
  const file = fileOf(request.url);
  if (!file || !fs.existsSync(file) || !fs.statSync(file).isFile()) {
    response.writeHead(404);
    return response.end();
  }
  response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "application/octet-stream" });
  fs.createReadStream(file).pipe(response);
}

const server = http.createServer(serve);
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/`;
const FLAGS = [
  "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
  "--disable-dev-shm-usage", "--remote-debugging-pipe", "about:blank",
];

/** A browser behind a pipe: it ends with this program, however that ends. */
function launch() {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "sinew-draw-"));
  const program = process.env.SINEW_CHROMIUM ?? "chromium";
  const child = spawn(program, [`--user-data-dir=${profile}`, ...FLAGS], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const waiting = new Map();
  let [last, text] = [0, ""];
  const end = (error) => waiting.forEach(({ fail }) => fail(error));
  child.on("error", end);
  child.on("exit", () => end(new Error(`${program} ended`)));
  child.stdio[3].on("error", end);
  child.stdio[4].setEncoding("utf8").on("data", (data) => {
    const messages = (text + data).split("\0");
    text = messages.pop();
    for (const message of messages.map((m) => JSON.parse(m))) {
      const wait = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) wait?.fail(new Error(message.error.message));
      else wait?.done(message.result);
    }
  });
  const send = (method, params, sessionId) =>
    new Promise((done, fail) => {
      waiting.set(++last, { done, fail });
      child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });
  const close = async () => {
    child.removeAllListeners("exit").kill("SIGKILL");
    await new Promise((done) => setTimeout(done, 200));
    try {
      fs.rmSync(profile, { recursive: true, force: true });
    } catch {
      // A helper process still writes to it: what is left lies in the folder of temporary files.
    }
  };
  return { send, close };
}

/** A tab that has loaded the page. */
async function open({ send }) {
  const { targetId } = await send("Target.createTarget", { url: address });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const value = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const ready = "Boolean(window.draw)";
  for (let k = 0; !(await value(ready).catch(() => false)); k += 1) {
    if (k > 1200) throw new Error("the page with three.js does not start");
    await new Promise((done) => setTimeout(done, 50));
  }
  return { value, close: () => send("Target.closeTarget", { targetId }) };
}

let browser, page, drawn = 0;

/** A page that has not drawn too much: what a picture leaves in the graphics memory is not always freed. */
async function fresh() {
  if (page && drawn < 100) return page;
  const old = page;
  page = null;
  await old?.close().catch(() => {});
  browser ??= launch();
  drawn = 0;
  return (page = await open(browser));
}

async function work({ files, out, size = 0, camera = null }) {
  let box = null;
  const faults = [];
  for (const [k, file] of files.entries()) {
    folders[k] = path.dirname(file);
    try {
      const tab = await fresh();
      drawn += 1;
      const url = `${address}${k}/${encodeURIComponent(path.basename(file))}`;
      const limit = new Promise((_, fail) => setTimeout(() => fail(new Error("it took over 30 s")), 30_000).unref());
      const call = `draw(${[url, size, box, camera].map((value) => JSON.stringify(value)).join(', ')})`;
      const result = await Promise.race([tab.value(call), limit]);
      box ??= result.box;
      fs.writeFileSync(out[k], Buffer.from(result.picture.split(",")[1], "base64"));
      faults.push(null);
    } catch (error) {
      faults.push(String(error.message ?? error).split("\n")[0]);
      if (/over 30 s/.test(faults.at(-1))) drawn = Infinity;
      // Without the first there is no camera.
      if (k === 0) break;
    }
  }
  return { faults, box };
}

// The caller may have ended; the browser still has to.
process.stdout.on("error", () => {});
for await (const line of readline.createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await work(JSON.parse(line));
  } catch (error) {
    answer = { faults: [String(error.message ?? error)], box: null };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser?.close();
server.close();
