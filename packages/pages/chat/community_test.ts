import { ChatId, GameId } from "@accountlink/core";
import { Profiles } from "@accountlink/core/platforms";
import { expect } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { makeCommunity } from "./community.ts";
import { testWithTwoAccounts } from "./test_two_accounts.ts";

const [ada, cleo] = [ChatId.make("100001"), "100003"] as const;
const test = testWithTwoAccounts([ada, cleo], { guilds: [], chatUsers: [], gameUsers: [] });

test("messages ask the game platform for names alone", function* () {
  const asked: Array<unknown> = [];
  const { account, accountName } = yield* Effect.updateService(makeCommunity, Profiles, (profiles) => ({
    ...profiles,
    game: (...of: Parameters<typeof profiles.game>) => {
      asked.push(of[1]);
      return profiles.game(...of);
    },
  }));
  yield* Effect.all([account(GameId.make("1")), accountName(GameId.make("1"))]);
  expect(asked).toEqual([[], []]);
});
