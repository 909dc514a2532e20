/** The dashboard in every language against its English source. Run with `-u` after a change of the English messages. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { dashboardTags } from "../languages.ts";
import { faultsOf, writingFaults } from "../message_faults.ts";
import { messageValues } from "../test_message_values.ts";

const messagesOf = (tag: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(new URL(`${tag}.json`, import.meta.url), "utf8"));

const english = messagesOf("en");

it.each(dashboardTags)("the messages of the dashboard in %s are those of the English source", (tag) => {
  const messages = messagesOf(tag);
  expect(faultsOf(tag, messages, english)).toEqual([]);
  expect(writingFaults(tag, messages, english)).toEqual([]);
  expect(Object.keys(messages)).toEqual(Object.keys(english).filter((key) => Object.hasOwn(messages, key)));
});

it("every file of messages is a language of the dashboard, and the types name every value of a message", async () => {
  const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".json"));
  expect(files.toSorted()).toEqual(dashboardTags.map((tag) => `${tag}.json`).toSorted());
  await expect(messageValues(english, "dashboard_messages_test.ts")).toMatchFileSnapshot("message_values.ts");
});
