import { Stream } from "effect";
import type { PortableLink } from "../links/link_store.ts";
import { type LinkFormatName, linkFormats } from "./formats/link_formats.ts";

/**
 * Converts links to the text of a file that `importLinks` can read. To export a scope, pass the links that `allLinks`
 * emits.
 *
 * @example
 * ```ts
 * import { ChatId, GameId } from "@accountlink/core";
 * import { Effect, Stream } from "effect";
 *
 * const link = { chatId: ChatId.make("100001"), gameId: GameId.make("1"), lastVerifiedAt: 0 };
 * const file = linkFileOf(Stream.make(link), "csv");
 * await Effect.runPromise(Stream.mkString(file)); // "chatId,gameId,lastVerifiedAt\n100001,1,1970-01-01T00:00:00.000Z\n"
 * ```
 */
export const linkFileOf = <E, R>(
  links: Stream.Stream<PortableLink, E, R>,
  format: LinkFormatName,
): Stream.Stream<string, E, R> => {
  const { header, write } = linkFormats[format];
  const lines = Stream.mapArray(links, (page) => [page.map(write).join("")] as const);
  return header === "" ? lines : Stream.concat(Stream.succeed(header), lines);
};
