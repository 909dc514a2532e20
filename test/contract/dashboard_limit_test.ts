/** Tests the daily limit of an account's changes on the dashboard. */
import { expect, test } from "vitest";
import { formOf, wordsOf } from "../support/flow_browser.ts";
import { dataOf, expectRefusal } from "./contract_server.ts";
import { createKey, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

const server = useSiteServer({ ACCOUNTLINK_DASHBOARD_DAILY: "3", ACCOUNTLINK_FREE_KEYS: "0" });

test("an account changes at most so much on the dashboard a day, by JSON and by forms together", async () => {
  const [owner, other] = [await signInOwner(server, "100021"), await signInOwner(server, "100022")];
  const { id } = await createKey(owner);
  const form = formOf(await owner.browser.get(`/dashboard/keys/${id}`));
  expect(
    (await owner.browser.post(`/dashboard/keys/${id}/status`, { ...form, status: "disabled" })).status,
  ).toBe(303);
  await owner.send(`PATCH /dashboard/api/keys/${id}`, { body: { name: "Another" } });
  const refused = await owner.send(`PATCH /dashboard/api/keys/${id}`, { body: { name: "A third" } });
  expectRefusal(refused, 429, "RATE_LIMITED", { bucket: "dashboard_day" });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  const page = await owner.browser.post("/dashboard/keys", { ...form, name: "Bot", scope: "global" });
  expect([page.status, Number(page.headers["retry-after"]) > 0]).toEqual([429, true]);
  expect(wordsOf(page)).toContain("Nothing was changed: 3 changes a day on the dashboard are allowed.");
  owner.browser.cookies.set("accountlink_language", "de");
  const german = await owner.browser.post("/dashboard/team/add", { ...form, who: "100023", role: "admin" });
  expect([german.status, wordsOf(german)]).toEqual([
    429,
    expect.stringContaining("pro Tag sind 3 Änderungen im Dashboard erlaubt"),
  ]);
  // A second sign-in has the same limit. Reading, and other accounts, go on.
  const again = await signInOwner(server, "100021");
  expectRefusal(await again.send(`DELETE /dashboard/api/keys/${id}`), 429, "RATE_LIMITED", {
    bucket: "dashboard_day",
  });
  expect(dataOf(await again.send("GET /dashboard/api/keys")).keys).toHaveLength(1);
  await createKey(other);
  // An account can be left, whatever was changed.
  expect(dataOf(await again.send("DELETE /dashboard/api/session"))).toEqual({ signedOut: true });
});
