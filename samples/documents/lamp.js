// Drives the model of the lamp in the visitor centre.
const PERIOD_MS = 20000; // three flashes every twenty seconds

/** One position of the rotating lens, in degrees. */
export function lensAngle(now) {
  return ((now % PERIOD_MS) / PERIOD_MS) * 360;
}

export class Lamp {
  constructor(canvas) {
    this.canvas = canvas;
    this.burning = false;
  }

  /** Light the lamp; the bulb takes four seconds to reach full power. */
  light() {
    this.burning = true;
    setTimeout(() => this.canvas.classList.add("full"), 4000);
  }
}
