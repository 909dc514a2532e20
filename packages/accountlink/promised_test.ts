import { StoreUnavailable } from "@accountlink/core";
import { Context, Effect } from "effect";
import { expect, test } from "vitest";
import { AccountLinkClosed } from "./errors.ts";
import { PromiseRunner } from "./promised.ts";

const failed = new StoreUnavailable({ operation: "LinkStore.findByChatId", cause: "connection lost" });
const failsWhenInterrupted = Effect.onExit(Effect.never, () => Effect.fail(failed));

test("a call that fails while the service closes rejects with AccountLinkClosed", async () => {
  const runner = new PromiseRunner(Context.empty());
  const call = runner.run(failsWhenInterrupted);
  await Promise.all([expect(call).rejects.toBeInstanceOf(AccountLinkClosed), runner.close()]);
});

test("a call that fails while it is aborted rejects with the reason of its signal", async () => {
  const runner = new PromiseRunner(Context.empty());
  const controller = new AbortController();
  const call = runner.run(failsWhenInterrupted, controller.signal);
  controller.abort("left");
  await expect(call).rejects.toBe("left");
});
