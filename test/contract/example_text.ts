/** Patterns of values that differ between runs, and their replacements. */
const varying: ReadonlyArray<readonly [RegExp, string]> = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time"],
  [/req_\w{26}/g, "a request id"],
  [/evt_\w{26}/g, "an event id"],
  [/\b[el][0-9a-z]+(?:\.\d+)?\.[\w-]{22}(?![\w-])/g, "a cursor"],
  [/vs_[\w-]{43}/g, "a sid"],
  [/pid_\w+/g, "a pid"],
  [/(?<="code\\?":\\?")[2-9A-Z]{4}-[2-9A-Z]{4}/g, "a code"],
  [/http:\/\/127\.0\.0\.1:\d+/g, "the service"],
  [/(?<="linkHash\\?":\\?")[\w-]+/g, "a hash"],
  [/(?<="keyId\\?":\\?")\w+/g, "a key"],
  [/(?<=emaining\\?":)\d+/g, "0"],
  [/(?<=limit of )\d+/g, "0"],
];

export const plain = (value: unknown): unknown =>
  JSON.parse(
    varying.reduce(
      (text, [pattern, replacement]) => text.replaceAll(pattern, replacement),
      JSON.stringify(value ?? null),
    ),
  );
