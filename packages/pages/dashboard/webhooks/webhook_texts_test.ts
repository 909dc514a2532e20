import { makeDelivery } from "@accountlink/testing";
import { expect, it } from "vitest";
import { inEnglish } from "../test_english.ts";
import { resultHtml } from "./webhook_texts.ts";

it("a delivery to an address that is not public names the setting that allows it", () => {
  const failed = { ...makeDelivery(), status: "given_up", responseStatus: null, error: "address" } as const;
  expect(inEnglish(resultHtml(failed))).toContain("ACCOUNTLINK_WEBHOOK_NETWORKS");
});
