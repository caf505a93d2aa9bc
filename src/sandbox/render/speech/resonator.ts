/** A digital resonator of the second order, as in the synthesiser of Klatt (1980). */
export class Resonator {
  private readonly sampleRate: number;
  private gain = 1;
  private first = 0;
  private second = 0;
  private last = 0;
  private beforeLast = 0;

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
  }

  /** Centre and width of the resonance in Hz. What already rings goes on ringing. */
  tune(frequency: number, width: number): void {
    const held = Math.min(frequency, this.sampleRate * 0.46);
    const radius = Math.exp((-Math.PI * width) / this.sampleRate);
    this.second = -radius * radius;
    this.first = 2 * radius * Math.cos((2 * Math.PI * held) / this.sampleRate);
    this.gain = 1 - this.first - this.second;
  }

  pass(value: number): number {
    const result = this.gain * value + this.first * this.last + this.second * this.beforeLast;
    this.beforeLast = this.last;
    this.last = result;
    return result;
  }
}
