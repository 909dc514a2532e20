import { Context, Effect, Layer, Schedule, Stream } from "effect";
import type { DataScope } from "../data_scope.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { forEachSignal, Signals } from "../signals.ts";

export interface LinkEventMap {
  readonly linkChanged: {
    readonly scope: DataScope;
    readonly chatId: ChatId;
    /** Null if the link was removed. */
    readonly gameId: GameId | null;
    /** Null if there was no link before. */
    readonly previousGameId: GameId | null;
  };

  readonly linksDeleted: { readonly scope: DataScope };
}

/**
 * Announces link changes to subscribers on every node. Changes by API keys, verification flows, users and embedding
 * programs are announced; changes by imports, fixtures and the command line are not. Each event is delivered at most
 * once: events are lost while a subscriber or the signals between nodes are down.
 *
 * @example
 * ```ts
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Links } from "accountlink";
 * import { Effect, Stream } from "effect";
 *
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100002", gameId: "1" }] }));
 * const program = Effect.gen(function* () {
 *   const events = yield* (yield* LinkEvents).subscribe("linkChanged");
 *   const links = yield* Links;
 *   yield* links.set("100001", "1");
 *   return yield* Stream.runHead(events);
 * });
 * await world.run(Effect.scoped(program)).then((event) => event._tag); // "Some"
 * await world.close();
 * ```
 */
export class LinkEvents extends Context.Service<LinkEvents>()("@accountlink/core/LinkEvents", {
  make: Effect.gen(function* () {
    const signals = yield* Signals;
    const scope = yield* Effect.scope;
    return {
      /** Announces a stored change in the background. An unchanged link is not announced. */
      announce: <Name extends keyof LinkEventMap>(
        name: Name,
        event: LinkEventMap[Name],
      ): Effect.Effect<void> =>
        isChange(event)
          ? signals
              .publish(topicOf(name), JSON.stringify(event))
              .pipe(Effect.ignore, Effect.forkIn(scope, { startImmediately: true }), Effect.asVoid)
          : Effect.void,

      /** Subscribes until the effect's scope closes. The stream has all later events, of every data scope. */
      subscribe: <Name extends keyof LinkEventMap>(name: Name) =>
        signals.subscribe(topicOf(name)).pipe(
          Effect.retry(Schedule.spaced("1 second")),
          Effect.orDie,
          Effect.map((messages) =>
            Stream.map(Stream.fromQueue(messages), (message): LinkEventMap[Name] => JSON.parse(message)),
          ),
        ),
    };
  }),
}) {
  static readonly layer = Layer.effect(LinkEvents, LinkEvents.make);
}

/**
 * Handles every announced link change until the effect's scope closes.
 *
 * @param handle called at each change with the ID (`pid`) of the changed data scope
 * @internal
 */
export const forEachLinkChange = (handle: (pid: Pid) => void) =>
  Effect.forEach(
    ["linkChanged", "linksDeleted"] as const,
    (name) =>
      forEachSignal(topicOf(name), (message) =>
        handle((JSON.parse(message) as LinkEventMap[keyof LinkEventMap]).scope.pid),
      ),
    { discard: true },
  );

const topicOf = (name: keyof LinkEventMap): string => `links:${name}`;

const isChange = (event: LinkEventMap[keyof LinkEventMap]): boolean =>
  !("gameId" in event) || event.gameId !== event.previousGameId;
