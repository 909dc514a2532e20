import { Effect, Option, Stream } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { Link } from "./link.ts";
import { LinkStore, type PortableLink } from "./link_store.ts";

/** Reading and writing a page takes a few milliseconds, in which no other request is answered. */
const pageSize = 500;

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
