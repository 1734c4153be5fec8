// Light: three lamps that follow the camera for plain looks; for materials a room, in which metal has something to reflect.
import {
  DirectionalLight,
  Group,
  HemisphereLight,
  NeutralToneMapping,
  NoToneMapping,
  PMREMGenerator,
  type Quaternion,
  type Scene,
  type Texture,
  type WebGLRenderer,
} from 'three';
import { RoomEnvironment } from 'three/addons/environments/RoomEnvironment.js';

/** How much the room is blurred, in radians: its boxes should not be recognised. */
const BLUR = 0.04;

export class Light {
  private readonly lamps = new Group();
  private room: Texture | null = null;

  constructor(
    private readonly renderer: WebGLRenderer,
    private readonly scene: Scene,
  ) {
    const key = new DirectionalLight(0xffffff, 2.1);
    key.position.set(-1.2, 1.6, 2);
    const rim = new DirectionalLight(0xcfd8ff, 0.7);
    rim.position.set(1.5, 0.6, -1.5);
    this.lamps.add(key, rim, new HemisphereLight(0xffffff, 0x70707c, 1.1));
    scene.add(this.lamps);
  }

  follow(camera: Quaternion): void {
    this.lamps.quaternion.copy(camera);
  }

  /** For materials, or for plain looks. */
  set(forMaterials: boolean): void {
    if (forMaterials) this.room ??= buildRoom(this.renderer);
    this.scene.environment = forMaterials ? this.room : null;
    this.lamps.visible = !forMaterials;
    this.renderer.toneMapping = forMaterials ? NeutralToneMapping : NoToneMapping;
  }
}

function buildRoom(renderer: WebGLRenderer): Texture {
  const generator = new PMREMGenerator(renderer);
  const room = new RoomEnvironment();
  const { texture } = generator.fromScene(room, BLUR);
  room.dispose();
  generator.dispose();
  return texture;
}
