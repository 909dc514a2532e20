import { makeDelivery } from "@accountlink/testing";
import { expect, it } from "vitest";
import { say } from "../look/say.ts";
import { inEnglish } from "../test_english.ts";
import { pendingText, resultHtml } from "./webhook_texts.ts";

it("a delivery to an address that is not public names the setting that allows it", () => {
  const failed = { ...makeDelivery(), status: "given_up", responseStatus: null, error: "address" } as const;
  expect(inEnglish(resultHtml(failed))).toContain("ACCOUNTLINK_WEBHOOK_NETWORKS");
});

it("events that wait are counted up to a thousand", () => {
  const texts = [0, 1_000, 1_001].map((pending) => pendingText({ pending }));
  expect(texts).toEqual(["0", "1,000", "more than 1,000"]);
});

it("the overview promises no further attempt for a webhook that no event waits for", () => {
  const [quiet, busy] = [0, 1].map((count) =>
    inEnglish(say("overview.webhook", { count, webhook: "Bot", time: "today" })),
  );
  expect(quiet).toMatch(/No event waits: send a test/);
  expect(busy).toMatch(/1 event waits\. Deliveries are tried again/);
});
