import { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { SignInStore } from "@accountlink/core/sign_ins";
import { Effect } from "effect";
import { expect } from "vitest";
import { Tampering, test } from "./sqlite/test_tampering.ts";

const id = "hash of a cookie" as SignInId;
const chatId = ChatId.make("10001");

test.each(["chat_id = 'ada'", "guilds = '[{}]'", "guilds = '['"])(
  "a sign-in is refused when its row has %s",
  function* (damage) {
    const { tamper } = yield* Tampering;
    const store = yield* SignInStore;
    yield* store.create(
      {
        id,
        site: "dashboard",
        chatId,
        account: null,
        guilds: [],
        device: null,
        createdAt: 0,
        expiresAt: 9,
      },
      null,
    );
    tamper(`UPDATE site_sign_ins SET ${damage}`);
    expect(yield* Effect.flip(store.find("dashboard", id, 0))).toMatchObject({
      _tag: "StoreUnavailable",
      cause: { _tag: "UnreadableRow" },
    });
  },
);
