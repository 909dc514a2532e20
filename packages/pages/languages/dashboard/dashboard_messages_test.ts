/** The dashboard in every language against its English source. Run with `-u` for a new language, which is one file. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { dashboardTags, languages } from "../languages.ts";
import { faultsOf } from "../message_faults.ts";
import { writingFaults } from "../test_writing_faults.ts";

const messagesOf = (tag: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(new URL(`${tag}.json`, import.meta.url), "utf8"));

const english = messagesOf("en");

/** Messages that some languages have in common with English. */
const commonKeys = new Set(
  `account.plan account.plan.no alts.community alts.note audit.because audit.day.hint audit.setting.access
   audit.two audit.value channels.log communities.figure deletion.account.webhooks deletion.confirmation
   field.problem frame.menu frame.navigation frame.tier.premium import.left_reason links.actions
   links.figure links.figure_noted list.community menu.imports menu.team menu.webhooks overview.way
   preview.nicknames roles.nickname roles.try.no roles.try.part rule.condition rule.field.itemId state.panel state.rights.no
   team.label.admin team.label.moderator team.role.admin user.roles`.split(/\s+/),
);

it.each(dashboardTags)("the messages of the dashboard in %s are those of the English source", (tag) => {
  const messages = messagesOf(tag);
  expect(faultsOf(tag, messages, english)).toEqual([]);
  expect(writingFaults(tag, messages, english)).toEqual([]);
  expect(Object.keys(messages)).toEqual(Object.keys(english).filter((key) => Object.hasOwn(messages, key)));
  const isEnglish = (key: string) => tag !== "en" && messages[key] === english[key];
  expect(Object.keys(messages).filter((key) => isEnglish(key) && !commonKeys.has(key))).toEqual([]);
});

/** The source of the list of files. @param tags the languages in the order in which pages offer them */
const fileList = (tags: ReadonlyArray<string>): string =>
  `// biome-ignore-all format: \`vitest -u\` writes this from the files of the folder, see \`dashboard_messages_test.ts\`.
/** Reads the messages of each language. */
export const ofDashboard = {
${tags.map((tag) => `  ${/-/.test(tag) ? `"${tag}"` : tag}: () => import("./${tag}.json", { with: { type: "json" } }),`).join("\n")}
};
`;

it("every file of messages is a language of the dashboard", async () => {
  const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".json"));
  const tags = files.map((name) => name.replace(".json", ""));
  const order = Object.keys(languages);
  expect(tags.filter((tag) => !order.includes(tag))).toEqual([]);
  const offered = tags.toSorted((one, other) => order.indexOf(one) - order.indexOf(other));
  await expect(fileList(offered)).toMatchFileSnapshot("files.ts");
});
