// Random choices that are the same for the same seed.
export class Random {
  constructor(seed) { this.state = seed >>> 0; }
  /** In [0, 1): mulberry32. */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  below(n) { return Math.floor(this.next() * n); }
  chance(p) { return this.next() < p; }
  /** Undefined of an empty list, or of none. */
  of(list) { return list?.[this.below(list.length)]; }
}
