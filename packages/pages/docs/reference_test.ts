import { openApi } from "@accountlink/http-api";
import { assert, it } from "@accountlink/test-servers/effect";
import { referencePage } from "./reference.ts";

const page = referencePage(openApi("http://127.0.0.1"), { style: "/style", openApi: "/openapi.json" }, {}).at(
  {
    basePath: "",
  },
);

/** The text of the part of the page to which a link leads, up to the next such part. */
const partAt = (target: string): string => {
  const [, part = ""] = page.split(` id="${target}"`);
  const [own = ""] = part.split(/ id="(?!limits|repeating)/);
  return own.replaceAll(/<[^>]*>/g, "").replaceAll("&quot;", '"');
};

it.each([
  ["Get a key", "dashboard"],
  ["Look one user up", "/v2/chat?chatId=100001"],
  ["Look 50 up at once", '{"chatIds":'],
  ["Link an account", "-X PATCH"],
  ["Let a user verify", "-X POST"],
  ["Follow every change", "cursor_expired"],
  ["Check a webhook's signature", "HMAC-SHA-256"],
  ["Write safely twice", "Idempotency-Key"],
  ["How often may I ask?", "Retry-After"],
  ["What does this refusal want?", "Ask the user to join the guild"],
])('the API reference answers "%s" one click from its top', (question, answer) => {
  const top = page.slice(page.indexOf("<h1>"), page.indexOf("<h2>"));
  const escaped = question.replace("'", "&#39;");
  const [, target = ""] = new RegExp(`<a href="#(\\w+)">${escaped.replace("?", "\\?")}</a>`).exec(top) ?? [];
  assert.lengthOf(page.split(` id="${target}"`), 2, question);
  assert.include(partAt(target), answer);
});

it("in the API reference, the card of a route lists its own reasons with what they ask for", () => {
  const card = partAt("patchGame");
  assert.include(card, "link_limit Remove links, or ask the operator for a larger plan");
  assert.notInclude(card, "session_completed");
  const ofV1 = partAt("updateGame");
  assert.include(ofV1, "The plan allows no more links Remove links, or ask the operator for a larger plan");
  assert.include(ofV1, "User is not in the guild Ask the user to join the guild");
  assert.notInclude(ofV1, "New chat ID already has a link");
  assert.include(partAt("updateChat"), "New chat ID already has a link Look the new chat ID up");
});

it("the errors of the API reference are the reasons of all refusals, and no other choices", () => {
  const errors = page.slice(page.indexOf('<section id="errors">'));
  const reasons = [...errors.matchAll(/<li><code>(\w+)<\/code>/g)].map(([, reason = ""]) => reason);
  assert.includeMembers(reasons, ["bot_not_in_guild", "link_limit", "block_limit", "ip_second"]);
  for (const other of ["connection", "api", "global"]) assert.notInclude(reasons, other);
  assert.deepEqual(reasons, [...new Set(reasons)]);
});
