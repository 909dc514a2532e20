import { Clock, Effect } from "effect";
import { originOfOperator } from "../audit/audit.ts";
import type { Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { isOwnProof, type Link, type LinkProof, LinkStore } from "../links/mod.ts";
import { UserStore } from "../users/user_store.ts";

/** The actor in the audit log. */
const service = originOfOperator("upgrade");

/** How many links and audit entries are read at once. */
const pageSize = 500;

/**
 * Makes links by hand of links that earlier releases made as `known`, because the holder of a key had named the player to
 * another community. A link stays as it is if its user has proven the account, as far as records and the journal tell.
 */
export const makeVouchedLinks = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const links = yield* LinkStore;
  const users = yield* UserStore;

  const hasProven = Effect.fnUntraced(function* ({ chatId, gameId }: Link) {
    const records = yield* users.findRecords(chatId);
    if (records.some(({ record }) => record.gameId === gameId && isOwnProof(record.proof))) return true;
    let page = yield* users.entries(chatId, null, pageSize);
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      const proves = page.some(
        ({ action, details }) =>
          action === "link.set" &&
          details["chatId"] === chatId &&
          details["gameId"] === gameId &&
          isOwnProof((details["proof"] ?? null) as LinkProof),
      );
      if (proves) return true;
      page = yield* users.entries(chatId, last, pageSize);
    }
    return false;
  });

  const mendScope = Effect.fnUntraced(function* (pid: Pid) {
    let after: Link | undefined;
    do {
      const page: ReadonlyArray<Link> = yield* links.exportPage(pid, after?.chatId ?? null, pageSize);
      for (const link of page.filter(({ proof }) => proof === "known")) {
        if (yield* hasProven(link)) continue;
        const at = yield* Clock.currentTimeMillis;
        const { chatId, gameId } = link;
        yield* links.distrust({ ...service, pid, chatId, gameId, at, reason });
      }
      after = page.length < pageSize ? undefined : page.at(-1);
      // Requests come first.
      yield* Effect.sleep("20 millis");
    } while (after !== undefined);
  });

  return Effect.gen(function* () {
    for (const { name } of yield* keys.listAccounts()) {
      for (const { scope } of yield* keys.listScopes(name)) yield* mendScope(scope.pid);
    }
  });
});

const reason = "The account was only named by a key of another community, never proven by its user";
