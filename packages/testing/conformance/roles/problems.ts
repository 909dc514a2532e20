import { type StoragePorts } from "@accountlink/core";
import { uniqueChatId } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { listed, newRoleSteps, problemOf, settled, start } from "./role_steps.ts";

const gone = (at: number) => problemOf(null, { roleId: "3", reason: "item_unknown", at });

/** Cases of the problems of plans. */
export const problems: Cases<StoragePorts> = {
  "a problem of the plan is kept once for each role, until a sweep that began later ends": function* () {
    const { putHeld, hold, settle, settleOne, startSweep, status } = yield* newRoleSteps;
    const node = yield* putHeld();
    const [one, other] = [uniqueChatId(), uniqueChatId()];
    const closed = problemOf(null, { roleId: "2", reason: "source_closed", at: start + 1 });
    const own = problemOf(one, { at: start + 1 });
    yield* settle(node, [
      settled(one, { problems: [own, gone(start + 1)] }),
      settled(other, { problems: [gone(start + 1)] }),
    ]);
    yield* settleOne(settled(other, { problems: [gone(start + 2), closed] }));
    expectEqual(
      (yield* status).problems,
      [gone(start + 2), own, closed].map((each) => listed(each)),
    );
    yield* settleOne(settled(other));
    expectEqual(
      (yield* status).problems,
      [gone(start + 2), own, closed].map((each) => listed(each)),
    );
    yield* startSweep(start + 5);
    const revision = (yield* hold(node))?.revision ?? 0;
    yield* settle(node, [], { revision, sweep: "ended", problems: [gone(start + 9)] });
    expectEqual((yield* status).problems, [listed(gone(start + 9))]);
  },

  "status has a problem for each cause and role with the number of members, the newest 50 of them":
    function* () {
      const { putHeld, settle, settleOne, status } = yield* newRoleSteps;
      const node = yield* putHeld();
      const chatIds = Array.from({ length: 60 }, uniqueChatId);
      const ofAll = chatIds.map((chatId, index) =>
        settled(chatId, { problems: [problemOf(chatId, { at: start + index })] }),
      );
      yield* settle(node, ofAll);
      const newest = chatIds.toReversed();
      const [last = uniqueChatId(), before = last] = newest;
      const shared = { ...problemOf(last, { at: start + 59 }), count: 60, chatIds: newest.slice(0, 20) };
      expectEqual((yield* status).problems, [shared]);
      const again = [
        problemOf(last, { roleId: null, reason: "member_above_bot", at: start + 99 }),
        problemOf(last, { roleId: "2", reason: "role_missing", at: start + 99 }),
      ];
      yield* settleOne(settled(last, { problems: again }));
      const rest = { ...problemOf(before, { at: start + 58 }), count: 59, chatIds: newest.slice(1, 21) };
      expectEqual((yield* status).problems, [...again.map((each) => listed(each)), rest]);
      const others = Array.from({ length: 55 }, (_, index) =>
        problemOf(last, { roleId: `${100 + index}`, at: start + 100 + index }),
      );
      yield* settleOne(settled(last, { problems: others }));
      expectEqual(
        (yield* status).problems,
        others
          .toReversed()
          .slice(0, 50)
          .map((each) => listed(each)),
      );
      yield* settleOne(settled(last));
      expectEqual((yield* status).problems, [rest]);
    },
};
