import process from "node:process";
import { isProof } from "@accountlink/test-servers";
import { expect, it, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Stream } from "effect";
import * as FastCheck from "fast-check";
import { type LinkReaderName, linkReaderNames, linkReaders } from "./link_formats.ts";
import { piecesOf } from "./text_rows.ts";

const { array, assert, asyncProperty, constantFrom, integer, record } = FastCheck;

/** The size of the shorter file of a comparison, in bytes. */
const small = isProof ? 1_000_000 : 200_000;
const header = "chatId,gameId,lastVerifiedAt,note\n";

/** A file that repeats a text after its beginning. */
interface Hostile {
  readonly start: string;
  readonly repeated: string;
}

const known: ReadonlyArray<readonly [start: string, repeated: string, format: LinkReaderName]> = [
  [header, `"${"\n".repeat(16_400)}`, "auto"],
  [header, `"${"\r\n".repeat(16_400)}`, "csv"],
  [header, `${",".repeat(60_000)}\n`, "csv"],
  [header, "1,", "csv"],
  [`${header}"`, "a", "csv"],
  ["", " ", "auto"],
  ["", "\n", "auto"],
  ["", "\r\n", "ndjson"],
  ["", " ", "json"],
  ["", "[", "json"],
  ["", '{"a":', "ndjson"],
  ["[", `{"discordId":${"[".repeat(30_000)}${"]".repeat(30_000)},"robloxId":1},`, "auto"],
  ['["', "\\", "json"],
];

const token = constantFrom(
  ...Array.from('"\\,;: \t\n\r[]{}1aé'),
  "\r\n",
  '""',
  '\\"',
  "null",
  '{"discordId":"100001",',
  "é".repeat(999),
);

const hostile = record({
  start: constantFrom("", header, "[", "{", '["', '{"1":'),
  repeated: FastCheck.tuple(
    array(token, { minLength: 1, maxLength: 6 }),
    integer({ min: 1, max: 20_000 }),
  ).map(([tokens, times]) => `${tokens.join("").repeat(times).slice(0, 100_000)}\n`),
});

const encoder = new TextEncoder();

const fileOf = ({ start, repeated }: Hostile, size: number): ReadonlyArray<Uint8Array> => {
  const bytes = encoder.encode(start + repeated.repeat(size / repeated.length + 1)).subarray(0, size);
  return piecesOf(bytes, 65_536);
};

/** Returns the milliseconds of processor time that this thread needs to read a file. */
const costOf = async (file: Hostile, format: LinkReaderName, size: number): Promise<number> => {
  const chunks = fileOf(file, size);
  const before = process.threadCpuUsage();
  await Effect.runPromise(
    linkReaders[format](Stream.fromIterable(chunks)).pipe(
      Stream.runDrain,
      Effect.catchTag("UnreadableLinkFile", () => Effect.void),
    ),
  );
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
};

/** In milliseconds. A measurement is longer than another by up to this time, because of the first run of a function. */
const tolerance = 30;

it(
  "a reader needs no more time per byte of a longer file, whatever the file contains",
  { timeout: 300_000 },
  () =>
    assert(
      asyncProperty(hostile, constantFrom(...linkReaderNames), async (file, format) => {
        const one = await costOf(file, format, small);
        expect(one).toBeLessThan(10_000);
        const most = 8 * one + tolerance;
        const four = await costOf(file, format, 4 * small);
        // Measure again if the machine was busy.
        expect(four <= most ? four : await costOf(file, format, 4 * small)).toBeLessThanOrEqual(most);
      }),
      {
        numRuns: known.length + (isProof ? 10 : 1),
        endOnFailure: true,
        examples: known.map(([start, repeated, format]) => [{ start, repeated }, format]),
      },
    ),
);

test("a reader lets other fibers run after each piece of a file", function* () {
  let turns = 0;
  const others = yield* Effect.forkChild(
    Effect.forever(
      Effect.andThen(
        Effect.sync(() => turns++),
        Effect.yieldNow,
      ),
    ),
  );
  yield* Stream.runDrain(
    linkReaders.csv(Stream.make(encoder.encode(header + "100001,1,,\n".repeat(40_000)))),
  );
  yield* Fiber.interrupt(others);
  expect(turns).toBeGreaterThan(40);
});
