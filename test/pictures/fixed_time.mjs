/** Stops the clock of a process that imports this module first, so that pages show the same times at each run. */
const now = Date.parse("2026-06-15T09:00:00.000Z");
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [now] : parts));
  }
  static now = () => now;
};
