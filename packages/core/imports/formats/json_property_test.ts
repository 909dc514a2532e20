import { characterOf, characters } from "@accountlink/test-servers";
import { expect, it } from "@accountlink/test-servers/effect";
import { Effect, Stream } from "effect";
import * as FastCheck from "fast-check";
import { linkReaders } from "./link_formats.ts";
import { piecesOf } from "./text_rows.ts";

const { array, constantFrom, dictionary, integer, json, record, string } = FastCheck;

const rows = array(
  record({
    discordId: integer({ min: 10_000, max: 2 ** 31 - 1 }).map(String),
    robloxId: integer({ min: 1 }).map(String),
    note: string({ unit: integer(characters).map(characterOf) }),
    more: json().map((text): unknown => JSON.parse(text)),
    named: dictionary(string(), constantFrom("]", "}", '"', "\\", ",")),
  }),
);

const encoder = new TextEncoder();

const file = record({
  written: rows,
  indent: constantFrom(undefined, 1, 3),
  size: integer({ min: 1, max: 50 }),
  shape: constantFrom("array" as const, "values" as const, "members" as const),
});

it("the JSON reader finds the same rows as JSON.parse, whatever the size of the chunks it reads", () =>
  FastCheck.assert(
    FastCheck.asyncProperty(file, async ({ written, indent, size, shape }) => {
      const distinct = [...new Map(written.map((row) => [row.discordId, row])).values()];
      const texts = distinct.map((row) => JSON.stringify(row, null, indent));
      const text = {
        array: JSON.stringify(distinct, null, indent),
        values: texts.join("\n"),
        members: `{${distinct.map((row, index) => `"${row.discordId}":${texts[index]}`).join(",\n")}}`,
      }[shape];
      const pieces = Stream.fromIterable(piecesOf(encoder.encode(text), size));
      const read = await Effect.runPromise(Stream.runCollect(linkReaders.json(pieces)));
      expect(read.map((row) => ("link" in row ? [row.link.chatId, row.link.gameId] : row.problem))).toEqual(
        distinct.map(({ discordId, robloxId }) => [discordId, robloxId]),
      );
    }),
  ));
