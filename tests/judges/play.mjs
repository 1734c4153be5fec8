// three.js as a player, without a browser. Usage: play.mjs JOBS.json, where JOBS is
// [{"file", "clip": index or null, "times": [seconds], "out"}]. Each `out` becomes little-endian f32: world
// positions of all vertices of all primitives, ordered by node then primitive, one time after another.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

globalThis.self = globalThis;
globalThis.ProgressEvent ??= class {};
const tools = process.env.SINEW_TOOLS ?? path.join(import.meta.dirname, "../../.tools");
const require = createRequire(path.join(tools, "npm/x.cjs"));
const load = (name) => import(pathToFileURL(path.join(path.dirname(require.resolve("three")), "..", name)));
const THREE = await load("build/three.module.js");
const { GLTFLoader } = await load("examples/jsm/loaders/GLTFLoader.js");

for (const job of JSON.parse(fs.readFileSync(process.argv[2]))) {
  const gltf = await parse(job.file);
  const meshes = sortedMeshes(gltf);
  const mixer = new THREE.AnimationMixer(gltf.scene);
  if (job.clip !== null) {
    const action = mixer.clipAction(gltf.animations[job.clip]);
    action.setLoop(THREE.LoopOnce);
    action.clampWhenFinished = true;
    action.play();
  }
  const values = [];
  for (const time of job.times) {
    mixer.setTime(time);
    gltf.scene.updateMatrixWorld(true);
    for (const mesh of meshes) positions(mesh, values);
  }
  fs.writeFileSync(job.out, new Float32Array(values));
}

async function parse(file) {
  const bytes = fs.readFileSync(file);
  const loader = new GLTFLoader();
  // Pictures need a browser and do not matter here.
  loader.register(() => ({ name: "no-pictures", loadTexture: async () => new THREE.Texture() }));
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return new Promise((resolve, reject) => loader.parse(buffer, "", resolve, reject));
}

function sortedMeshes(gltf) {
  const found = [];
  gltf.scene.traverse((object) => {
    if (!object.isMesh) return;
    const own = gltf.parser.associations.get(object) ?? {};
    const above = gltf.parser.associations.get(object.parent) ?? {};
    found.push({ object, node: own.nodes ?? above.nodes ?? 0, primitive: own.primitives ?? 0 });
  });
  found.sort((a, b) => a.node - b.node || a.primitive - b.primitive);
  return found.map(({ object }) => object);
}

function positions(mesh, values) {
  const point = new THREE.Vector3();
  for (let i = 0; i < mesh.geometry.attributes.position.count; i++) {
    mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld);
    values.push(point.x, point.y, point.z);
  }
}
