import { Effect, Stream } from "effect";
import { TestClock } from "effect/testing";
import type { ReadOptions } from "./link_format.ts";
import { type LinkReaderName, linkReaders } from "./link_formats.ts";
import { piecesOf } from "./text_rows.ts";

export const encoder = new TextEncoder();

const now = Date.parse("2027-01-01T00:00:00.000Z");

/** Parses a file that arrives in pieces of `pieceSize` bytes. Returns links without the texts of their rows. */
export const parseBytes = (
  bytes: Uint8Array,
  format: LinkReaderName = "auto",
  pieceSize = 1_000_000,
  options: ReadOptions = {},
) => {
  const pieces = Stream.fromIterable(piecesOf(bytes, pieceSize));
  return TestClock.setTime(now).pipe(
    Effect.andThen(Stream.runCollect(linkReaders[format](pieces, options))),
    Effect.map((rows) => rows.map((row) => ("link" in row ? { line: row.line, link: row.link } : row))),
  );
};

export const parse = (content: string, format?: LinkReaderName, pieceSize?: number, options?: ReadOptions) =>
  parseBytes(encoder.encode(content), format, pieceSize, options);

export const link = (line: number, chatId: string, gameId: string, lastVerifiedAt: number | null) => ({
  line,
  link: { chatId, gameId, lastVerifiedAt },
});

type Read = Effect.Success<ReturnType<typeof parse>>;

export const problemsOf = (lines: Read) =>
  lines.flatMap((read) => ("problem" in read ? [`${read.line}: ${read.problem}`] : []));

export const reasonsOf = (lines: Read) =>
  lines.map((read) => ("problem" in read ? read.reason : `${read.link.chatId} ${read.link.gameId}`));

export const unreadable = (content: string, format?: LinkReaderName) =>
  Effect.map(Effect.flip(parse(content, format)), String);
