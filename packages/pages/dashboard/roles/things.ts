import { GamePlatform } from "@accountlink/core";
import type { PlatformUnavailable } from "@accountlink/core/errors";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { itemKinds } from "@accountlink/core/platforms";
import { Effect, Option } from "effect";
import { isId, type RolesForm } from "./role_form.ts";
import { type Thing, thingKey } from "./rule_sentence.ts";

/** Makes a function that finds the groups and items of a form by `thingKey`. */
export const makeThings = Effect.map(GamePlatform, ({ findGroup, findItem }) =>
  Effect.fnUntraced(function* ({ rules, nicknameGroupId }: RolesForm) {
    const things = new Map<string, Effect.Effect<Option.Option<Thing>, PlatformUnavailable>>();
    const conditions = rules.flatMap((rule) => rule.conditions);
    for (const groupId of [...conditions.map((each) => each.groupId), nicknameGroupId]) {
      if (findGroup && isId(groupId)) things.set(thingKey("group", groupId), findGroup(groupId));
    }
    for (const { when, itemId } of conditions) {
      const item = itemKinds.find((kind) => kind === when);
      if (findItem && item && isId(itemId)) things.set(thingKey(item, itemId), findItem({ item, itemId }));
    }
    const found = yield* forEachLimited(
      things,
      ([key, find]) =>
        find.pipe(
          Effect.map((thing): readonly [string, Thing | null] => [key, Option.getOrNull(thing)]),
          Effect.orElseSucceed(() => [key, { name: null }] as const),
        ),
      { concurrency: 8 },
    );
    return new Map<string, Thing | null>(found);
  }),
);
