import { Effect, Option, Stream } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import { type LinkFormatName, linkFormats } from "./formats/link_formats.ts";
import type { Link } from "./link.ts";
import { LinkStore, type PortableLink } from "./link_store.ts";

const pageSize = 1_000;

/**
 * Emits every link of a scope, sorted by chat ID as text, in constant memory. A link that changes during the export may
 * appear in its old or new state.
 */
export const allLinks = (pid: Pid): Stream.Stream<PortableLink, StoreUnavailable, LinkStore> =>
  Stream.map(storedLinks(pid), portable);

/** Emits what `allLinks` emits, with all fields of a link. @internal */
export const storedLinks = (pid: Pid): Stream.Stream<Link, StoreUnavailable, LinkStore> =>
  Stream.paginate(
    null as ChatId | null,
    Effect.fnUntraced(function* (after: ChatId | null) {
      const page = yield* (yield* LinkStore).exportPage(pid, after, pageSize);
      const next = page.length < pageSize ? Option.none() : Option.fromUndefinedOr(page.at(-1)?.chatId);
      return [page, next] as const;
    }),
  );

const portable = ({ chatId, gameId, lastVerifiedAt }: Link): PortableLink => ({
  chatId,
  gameId,
  lastVerifiedAt,
});

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
