/** Decodes UTF-8 and UTF-16 files. Refuses other files, with a reason for each known kind of file. */
import { Stream } from "effect";
import { UnreadableLinkFile } from "./link_format.ts";

/** The number of bytes that suffice to recognize the kind of a file. */
const headSize = 16;

/** How files of other kinds begin, and why they are refused. */
const kinds: ReadonlyArray<readonly [start: string, reason: string]> = [
  ["PK\x03\x04", "the file is a ZIP archive or a spreadsheet, expected the CSV or JSON text itself"],
  ["\x1F\x8B", "the file is compressed, expected the CSV or JSON text itself"],
  ["\x28\xB5\x2F\xFD", "the file is compressed, expected the CSV or JSON text itself"],
  ["BZh", "the file is compressed, expected the CSV or JSON text itself"],
  ["\xFD7zXZ", "the file is compressed, expected the CSV or JSON text itself"],
  ["\xD0\xCF\x11\xE0", "the file is a spreadsheet, expected it saved as CSV"],
  ["%PDF", "the file is a PDF, expected CSV or JSON"],
  ...["\x89PNG", "\xFF\xD8\xFF", "GIF8", "RIFF"].map(
    (begin) => [begin, "the file is an image, expected CSV or JSON"] as const,
  ),
  [
    "SQLite format 3\0",
    "the file is an SQLite database, which only the command line reads: export it as CSV",
  ],
];

/** Control characters that no text begins with. */
const controls = /[^\P{Cc}\t\n\v\f\r]/u;

/** Marks the end of a complete file, after its last text. */
export const endOfText = Symbol("endOfText");

/** Decodes the text of a file without its byte order mark. Emits an `UnreadableLinkFile` if the file is binary. */
export const decodedText = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
): Stream.Stream<string | UnreadableLinkFile | typeof endOfText, E, R> =>
  Stream.suspend(() => {
    let head: Uint8Array | null = new Uint8Array(0);
    let decoder = new TextDecoder();

    const start = (first: Uint8Array): string | UnreadableLinkFile => {
      const reason = kinds.find(([begin]) => latin(first).startsWith(begin))?.[1];
      head = null;
      if (reason !== undefined) return new UnreadableLinkFile({ line: 1, reason });
      decoder = new TextDecoder(encodingOf(first));
      const text = decoder.decode(first, { stream: true });
      return controls.test(text.slice(0, headSize))
        ? new UnreadableLinkFile({ line: 1, reason: "the file is not text, expected CSV or JSON" })
        : text;
    };

    const take = (chunk: Uint8Array): string | UnreadableLinkFile => {
      if (head === null) return decoder.decode(chunk, { stream: true });
      head = joined(head, chunk);
      return head.length < headSize ? "" : start(head);
    };

    const end = () => [...(head === null ? [] : [start(head)]), decoder.decode(), endOfText] as const;

    return Stream.concat(
      Stream.map(bytes, take),
      Stream.suspend(() => Stream.fromIterable(end())),
    );
  });

const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes.subarray(0, headSize));

const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first !== 0 && second === 0) return "utf-16le";
  return first === 0 && second !== 0 && second !== undefined ? "utf-16be" : "utf-8";
};

const joined = (one: Uint8Array, other: Uint8Array): Uint8Array => {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
};
