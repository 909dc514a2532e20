import { characterOf, characters } from "@accountlink/test-servers";
import { expect, it } from "@accountlink/test-servers/effect";
import { Effect, Stream } from "effect";
import * as FastCheck from "fast-check";
import { linkReaders } from "./link_formats.ts";
import { piecesOf } from "./text_rows.ts";

const { array, boolean, constantFrom, dictionary, integer, json, record, shuffledSubarray, string } =
  FastCheck;

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

const readPieces = async (format: "csv" | "json", text: string, size: number) => {
  const pieces = Stream.fromIterable(piecesOf(encoder.encode(text), size));
  const read = await Effect.runPromise(Stream.runCollect(linkReaders[format](pieces)));
  return read.map((row) => ("link" in row ? [row.link.chatId, row.link.gameId] : row.problem));
};

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
      expect(await readPieces("json", text, size)).toEqual(
        distinct.map(({ discordId, robloxId }) => [discordId, robloxId]),
      );
    }),
  ));

const columns = ["discordId", "robloxId", "note", "name"] as const;

const table = record({
  written: array(
    record({
      discordId: integer({ min: 10_000, max: 2 ** 31 - 1 }).map(String),
      robloxId: integer({ min: 1 }).map(String),
      note: array(constantFrom('"', ",", ";", "|", "\t", "\n", "\r\n", " ", "7")).map((parts) =>
        parts.join(""),
      ),
      name: constantFrom("", "ada"),
      isQuoted: boolean(),
    }),
  ),
  names: shuffledSubarray([...columns], { minLength: columns.length }),
  separator: constantFrom(",", ";", "\t", "|"),
  end: constantFrom("\n", "\r\n", "\r"),
  size: integer({ min: 1, max: 50 }),
});

it("the CSV reader finds the cells of each row, whatever its other cells contain", () =>
  FastCheck.assert(
    FastCheck.asyncProperty(table, async ({ written, names, separator, end, size }) => {
      const lines = written.map((row) =>
        names.map((name) => {
          const isQuoted = row.isQuoted || (name === "note" && row.note !== "");
          return isQuoted ? `"${row[name].replaceAll('"', '""')}"` : row[name];
        }),
      );
      const text = [names, ...lines].map((cells) => `${cells.join(separator)}${end}`).join("");
      expect(await readPieces("csv", text, size)).toEqual(
        written.map(({ discordId, robloxId }) => [discordId, robloxId]),
      );
    }),
  ));
