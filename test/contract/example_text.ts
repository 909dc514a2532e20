const hourMs = 3_600_000;

/** The time of sample answers. */
const sampleNow = Date.parse("2026-01-05T12:00:00.000Z");

/** A time of a run as long before or after the time of sample answers, in minutes. Times of the demo stay. */
const sampleTime = (text: string): string => {
  const apart = Date.parse(text) - Date.now();
  const minutes = Math.round(apart / 60_000);
  return Math.abs(apart) > 48 * hourMs ? text : new Date(sampleNow + minutes * 60_000).toISOString();
};

/** Patterns of values that differ between runs, their replacements, and such a value in sample answers. */
const varying: ReadonlyArray<
  readonly [pattern: RegExp, name: string, sample: string | ((text: string) => string)]
> = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time", sampleTime],
  [/req_\w{26}/g, "a request id", "req_01KE72VJ00A1B2C3D4E5F6G7H8"],
  [/evt_\w{26}/g, "an event id", "evt_01KE8Q3Z1S5Q9V8R7D6N4M2K0J"],
  [
    /\b[el][0-9a-z]+(?:\.\d+)?\.[\w-]{22}(?![\w-])/g,
    "a cursor",
    (text) => text.replace(/^(.)[^.]+/, "$12a").replace(/[^.]+$/, "A".repeat(22)),
  ],
  [/vs_[\w-]{43}/g, "a sid", "vs_0123456789abcdefghijABCDEFGHIJ0123456789_-A"],
  [/pid_\w+/g, "a pid", "pid_0123456789abcdefghij"],
  [/(?<="code\\?":\\?")[2-9A-Z]{4}-[2-9A-Z]{4}/g, "a code", "BCDF-2345"],
  [/http:\/\/127\.0\.0\.1:\d+/g, "the service", "http://127.0.0.1:8080"],
  [/(?<="linkHash\\?":\\?")[\w-]+/g, "a hash", "ZN8FQ_boP7IX_oB9Udp9lHyhGyuQIGaz"],
  [/(?<="keyId\\?":\\?")\w+/g, "a key", "Aa0Bb1Cc2Dd3"],
  [/(?<=emaining\\?":)\d+/g, "0", (text) => text],
  [/(?<=limit of )\d+/g, "0", (text) => text],
];

const replaced = (value: unknown, by: (row: (typeof varying)[number]) => (text: string) => string): unknown =>
  JSON.parse(varying.reduce((text, row) => text.replaceAll(row[0], by(row)), JSON.stringify(value ?? null)));

export const plain = (value: unknown): unknown =>
  replaced(
    value,
    ([, name]) =>
      () =>
        name,
  );

/** An answer of a run as a sample answer. */
export const sampled = (value: unknown): unknown =>
  replaced(value, ([, , sample]) => (typeof sample === "string" ? () => sample : sample));
