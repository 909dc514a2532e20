/** CSV files of the links in one or more lists, with or without the names of the accounts. */
import type { LinkStore } from "@accountlink/core";
import type { StoreUnavailable } from "@accountlink/core/errors";
import { csvRow } from "@accountlink/core/imports";
import { allLinks } from "@accountlink/core/links";
import { visibleName } from "@accountlink/core/name_text";
import type { OwnedLinks } from "@accountlink/core/owners";
import type { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Effect, Stream } from "effect";
import type { Community } from "../communities/community.ts";
import { englishListName } from "../look/names.ts";
import { mostNamed } from "./links_page.ts";

type Rows = Stream.Stream<ReadonlyArray<string>, StoreUnavailable, LinkStore>;

/**
 * Emits the text of a CSV file of links.
 *
 * @param named finds the newest links with the names of their accounts; null for a file of all links without names
 */
export const listedFile = (
  communities: ReadonlyArray<Community>,
  named: OwnedLinks["Service"] | null,
): Stream.Stream<string, StoreUnavailable, LinkStore> => {
  const rows = Stream.fromIterable(communities).pipe(
    Stream.flatMap((community): Rows => (named ? newestRows(community, named) : allRows(community))),
  );
  return Stream.map(
    Stream.concat(Stream.succeed(named ? namedColumns : columns), rows),
    (cells) => `${csvRow(cells)}\r\n`,
  );
};

/** Runs a stream unless another one with this name runs: both would ask the platforms, which limit requests. */
export const onceAtATime = <A, E, R>(running: Set<string>, name: string, stream: Stream.Stream<A, E, R>) =>
  Stream.suspend(() => {
    if (running.has(name)) return Stream.die(new Error("Cannot send two files with names at once"));
    running.add(name);
    return Stream.ensuring(
      stream,
      Effect.sync(() => running.delete(name)),
    );
  });

const columns: ReadonlyArray<string> = ["list", "chatId", "gameId", "lastVerifiedAt"];
const namedColumns: typeof columns = ["list", "chatId", "chatName", "gameId", "gameName", "lastVerifiedAt"];

const allRows = (community: Community): Rows =>
  Stream.map(allLinks(community.scope.pid), ({ chatId, gameId, lastVerifiedAt }) => [
    englishListName(community),
    chatId,
    gameId,
    formatTimestamp(lastVerifiedAt),
  ]);

const newestRows = (community: Community, { newest }: OwnedLinks["Service"]): Rows =>
  Stream.map(newest(community.scope, mostNamed), ({ link, chat, game }) => [
    englishListName(community),
    link.chatId,
    nameOf(chat),
    link.gameId,
    nameOf(game),
    formatTimestamp(link.lastVerifiedAt),
  ]);

const nameOf = (profile: ChatProfile | GameProfile | null): string => visibleName(profile) ?? "";
