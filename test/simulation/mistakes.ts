/** Mistakes in the product that a simulation has to find, as changes of its sources. */

export interface Mistake {
  readonly what: string;
  /** The end of the path of the source. */
  readonly file: string;
  /** What stands there once, and what stands there with the mistake. */
  readonly right: string;
  readonly wrong: string;
}

/** The variable with the number of a mistake, for `break_sources.ts`. */
export const mistakeVariable = "ACCOUNTLINK_SIMULATED_MISTAKE";

export const mistakes: ReadonlyArray<Mistake> = [
  {
    what: "A lookup answers from memory for 50 ms",
    file: "core/links/link_lookup.ts",
    right:
      "const link = linkOf(yield* links.findByChatId(scope.pid, chatId));\n        if (link === null) return yield* new LinkNotFound();",
    wrong: `const kept = ((guard as any).kept ??= new Map());
        const known = kept.get(chatId);
        const link = known?.until > Date.now() ? known.link : linkOf(yield* links.findByChatId(scope.pid, chatId));
        if (known === undefined || known.until <= Date.now()) kept.set(chatId, { link, until: Date.now() + 50 });
        if (link === null) return yield* new LinkNotFound();`,
  },
  {
    what: "The previous game user is read before the write",
    file: "core/links/link_writer.ts",
    right: "const { previousGameId } = yield* commit(write, resultOf);",
    wrong: `const before = yield* links.findByChatId(target.scope.pid, chatId);
        yield* commit(write, resultOf);
        const previousGameId = before._tag === "Some" ? before.value.gameId : null;`,
  },
  {
    what: "A removal is answered before it is stored",
    file: "core/links/link_writer.ts",
    right: "const removed = yield* commit(Effect.flatMap(write, requireLink), resultOf);",
    wrong: `const before = yield* Effect.flatMap(links.findByChatId(target.scope.pid, chatId), (found) =>
          found._tag === "Some" && found.value.gameId !== null ? Effect.succeed(found.value.gameId) : Effect.fail(new LinkNotFound()));
        yield* Effect.forkDetach(commit(Effect.flatMap(write, requireLink), resultOf));
        const removed = { gameId: before, ended: [] };`,
  },
  {
    what: "A write under an idempotency key is stored without its answer",
    file: "http/pipeline/idempotency.ts",
    right: "commit: begun.commit })",
    wrong: "commit: commitAlone })",
  },
  {
    what: "The answer under an idempotency key has a transaction of its own",
    file: "core/idempotency/idempotency.ts",
    right: "store.commit(claim, answered, size),",
    wrong: "Effect.flatMap(answered, (done) => store.commit(claim, Effect.succeed(done), size)),",
  },
  {
    what: "An answered idempotency key can be claimed again",
    file: "memory/storage/idempotency_store.ts",
    right: "at < (entry.heldUntil ?? entry.endsAt)",
    wrong: "at < (entry.heldUntil ?? 0)",
  },
  {
    what: "A commit does not look who holds the idempotency key",
    file: "memory/storage/idempotency_store.ts",
    right: "return entry?.requestId === requestId && entry.answer === null ? entry : undefined;",
    wrong: "return entry;",
  },
  {
    what: "An erasure leaves the answers under idempotency keys",
    file: "memory/storage/erase_user.ts",
    right: "  eraseRequests(memory, chatId);\n",
    wrong: "",
  },
  {
    what: "A key is trusted for 3 seconds",
    file: "core/keys/key_authenticator.ts",
    right: "export const keyFreshness = 750;",
    wrong: "export const keyFreshness = 3_000;",
  },
  {
    what: "A key is trusted from the end of its read",
    file: "core/keys/key_authenticator.ts",
    right: "asked: isCurrent ? asked : null, now });",
    wrong: "asked: yield* Clock.clockWith((clock) => Effect.sync(() => momentOf(clock))), now });",
  },
  {
    what: "A key is trusted by the clock of the wall alone",
    file: "core/keys/key_authenticator.ts",
    right: "clock.monotonicTimeNanosUnsafe() - asked.monotonicNanos < freshNanos",
    wrong: "true",
  },
  {
    what: "A limit admits one more",
    file: "memory/cache/counters.ts",
    right: "(this.#find(key, now)?.count ?? 0) < limit",
    wrong: "(this.#find(key, now)?.count ?? 0) <= limit",
  },
  {
    what: "A request counts twice",
    file: "memory/cache/counters.ts",
    right: "window.count++;",
    wrong: "window.count += 2;",
  },
  {
    what: "A node without Redis decides by the whole limit",
    file: "core/limits/node_share.ts",
    right: "Math.ceil((rule.limit - used) / liveNodes())",
    wrong: "rule.limit - used",
  },
  {
    what: "Counts that Redis lost begin at 0",
    file: "core/limits/durable_counters.ts",
    right: "loaded.success[windows.findIndex(({ key }) => key === rule.key)] ?? 0;",
    wrong: "0;",
  },
  {
    what: "Only signals wake who waits for a session",
    file: "core/sessions/session_watch.ts",
    right: "      yield* pollChanges(subscriptions).pipe(Effect.forkScoped);\n",
    wrong: "",
  },
  {
    what: "Only signals wake who waits for events",
    file: "core/events/event_watch.ts",
    right: "for (const pid of yield* store.newer(places)) waiting.wake(pid);",
    wrong: "yield* store.newer(places);",
  },
  {
    what: "A removal keeps the version of its link",
    file: "core/links/link_changes.ts",
    right: "linkVersion: record.linkVersion + 1,",
    wrong: "linkVersion: record.linkVersion,",
  },
  {
    what: "The cursor of a full page is that of what was read",
    file: "core/events/event_feed.ts",
    right: "return pageOf(found, found.at(-1)?.position ?? position, true);",
    wrong: "return pageOf(found, page.at(-1)?.position ?? position, true);",
  },
  {
    what: "The cursor of a page is where it began",
    file: "core/events/event_feed.ts",
    right: "cursor: yield* cursors.event(scope.pid, page.position),",
    wrong: "cursor: yield* cursors.event(scope.pid, after),",
  },
  {
    what: "A change has no event",
    file: "memory/storage/set_game.ts",
    right: "  memory.append(pid, newEvent(at, linkSet(record, previousGameId, source)));\n",
    wrong: "",
  },
  {
    what: "A webhook's place is that of what was read",
    file: "core/webhooks/delivery/courier.ts",
    right: "const { position } = window;",
    wrong: "const position = window.readPosition;",
  },
  {
    what: "A webhook of a node that died is never taken",
    file: "core/webhooks/delivery/webhook_couriers.ts",
    right: "const holdTime = 7_000;",
    wrong: "const holdTime = 700_000;",
  },
  {
    what: "A webhook's deliveries do not wait for each other",
    file: "core/webhooks/delivery/delivery_window.ts",
    right: "entry.delivery.lanes.every((lane) => this.#lanes.get(lane)?.[0] === entry)",
    wrong: "entry.delivery.lanes.length >= 0",
  },
  {
    what: "A failed delivery does not hold up what follows",
    file: "core/webhooks/delivery/delivery_window.ts",
    right: 'this.#offerFirst(delivery.status === "failing" ? this.#putFollowersAside(lanes) : lanes);',
    wrong: "this.#offerFirst(lanes);",
  },
];
