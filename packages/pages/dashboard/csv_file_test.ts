import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Stream } from "effect";
import { pagedCsv } from "./csv_file.ts";

test("a file in parts has its header once, and ends after its last row", function* () {
  const pages = new Map([
    [null, [1, 2]],
    [2, [3]],
  ]);
  const page = (last: number | null) => Effect.succeed(pages.get(last) ?? []);
  const { body } = pagedCsv("numbers", ["number"], page, (number) => [number]);
  if (body === null || typeof body === "string" || body instanceof Uint8Array) throw new Error("No stream");
  expect(yield* Stream.mkString(Stream.decodeText(body.chunks))).toBe("number\r\n1\r\n2\r\n3\r\n");
});
