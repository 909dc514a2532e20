import type { Block, BlockedUser, BlockPlace } from "@accountlink/core/admission";
import { InvalidParameter } from "@accountlink/core/errors";
import type { ChatId, GameId } from "@accountlink/core/ids";
import { OwnedBlocks, OwnedScopes } from "@accountlink/core/owners";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { DashboardBlocks } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeOperation } from "../api_pipeline.ts";
import { csvResponse } from "../csv_file.ts";
import { blockFile, readBlockFile } from "./block_file.ts";

/** What members and keys do with blocks, by JSON and by the forms of the pages. */
export const makeBlockOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const scopes = yield* OwnedScopes;
  const blocks = yield* OwnedBlocks;

  return {
    list: operation(DashboardBlocks.getBlocks, function* ({ owner, values: { pid, limit, cursor } }) {
      const page = yield* blocks.page(yield* scopes.find(owner, pid), cursor, limit);
      return { blocks: page.blocks.map(blockJson), next: page.next && blockCursorOf(page.next) };
    }),

    export: operation(DashboardBlocks.exportBlocks, function* ({ owner, context, values: { pid } }) {
      const found = yield* blocks.all(yield* scopes.find(owner, pid));
      return csvResponse("blocks", blockFile(found), context.requestId);
    }),

    import: operation(DashboardBlocks.importBlocks, function* ({ owner, values: { pid, csv } }) {
      const scope = yield* scopes.find(owner, pid);
      const file = yield* readBlockFile(csv);
      if (file === null) return yield* InvalidParameter.one("csv", { is: "blocks_file" });
      if (file.rounded > 0) {
        return yield* InvalidParameter.one("csv", `expected chat IDs as text, found ${file.rounded} rounded`);
      }
      const { listed, wrong } = file;
      return { ...(yield* blocks.importAll(owner, scope, listed)), wrong };
    }),

    block: operation(
      DashboardBlocks.putBlock,
      function* ({ owner, values: { pid, reason, ...ids } }) {
        const scope = yield* scopes.find(owner, pid);
        return yield* blocks.set(owner, scope, yield* userOf(ids), reason);
      },
      ({ block, removedLinks }) => ({ block: blockJson(block), removedLinks }),
    ),

    unblock: operation(DashboardBlocks.deleteBlock, function* ({ owner, values: { pid, ...ids } }) {
      const scope = yield* scopes.find(owner, pid);
      return { deleted: yield* blocks.remove(owner, scope, yield* userOf(ids)) };
    }),
  };
});

/** Encodes a position as the `cursor` of the next page. */
export const blockCursorOf = ({ at, hash }: BlockPlace): string => `${at}-${hash}`;

/** The parameter reader has already refused a request that names no user. */
const userOf = ({
  chatId,
  gameId,
}: {
  readonly chatId: ChatId | null;
  readonly gameId: GameId | null;
}): Effect.Effect<BlockedUser, InvalidParameter> => {
  if (gameId === null && chatId !== null) return Effect.succeed({ chatId, gameId });
  if (gameId !== null && chatId === null) return Effect.succeed({ chatId, gameId });
  return InvalidParameter.one("gameId", { is: "one_user" });
};

const blockJson = ({ chatId, gameId, reason, at, member }: Block) => ({
  chatId,
  gameId,
  reason,
  at: formatTimestamp(at),
  member,
});
