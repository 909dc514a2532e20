import {
  DashboardCommunities,
  DashboardKeys,
  dashboardRoutes,
  type RawValues,
  type Route,
} from "@accountlink/http-api";
import { Effect } from "effect";
import { expect, it } from "vitest";
import { valuesReader } from "./api_pipeline.ts";
import { fieldsFrom, fieldsOf } from "./form_fields.ts";
import { entriesOf, explained, formValues, isUntouched, marksOf } from "./form_values.ts";

/** Reads a form, given its fields as a browser sends them. */
const read = (route: Route, form: string, inPath: RawValues = {}) => {
  const sent = new URLSearchParams(form);
  const all = (name: string) => sent.getAll(name);
  return formValues(
    route,
    Object.assign((name: string) => all(name)[0] ?? "", { all }),
    inPath,
  );
};

const sentIn = (raw: RawValues) =>
  Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined));

it("the fields of a form become texts, lists and numbers, and fields that it lacks are left out", () => {
  const key = read(DashboardKeys.patchKey, "name=+Bot+&allowIps=192.0.2.1%0D%0A192.0.2.2&denyIps=", {
    id: "x",
  });
  expect(sentIn(key)).toEqual({ id: "x", name: "Bot", allowIps: ["192.0.2.1", "192.0.2.2"], denyIps: [] });
  expect(sentIn(read(DashboardKeys.rotateKey, "graceSeconds=60", { id: "x" }))).toEqual({
    id: "x",
    graceSeconds: 60,
  });
});

it("an empty field removes a value that may be null, and the guild of a shared list is ignored", () => {
  const scope = read(DashboardCommunities.patchScope, "doneText=&minGameAgeDays=7", { pid: "p" });
  expect(sentIn(scope)).toEqual({ pid: "p", doneText: null, minGameAgeDays: 7 });
  expect(sentIn(read(DashboardKeys.createKey, "scope=global&guildId=12345"))).toEqual({ scope: "global" });
});

it("a form is read once, however many of its fields a page asks for", () => {
  const form = new URLSearchParams("a=1&b=2&a=3&shown=a%3D0");
  let reads = 0;
  const counted = new Proxy(form, {
    get: (target, name) => {
      reads++;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const fields = fieldsOf(counted);
  expect([fields("a"), fields.all("a"), fields.all("b"), fields("c")]).toEqual(["1", ["1", "3"], ["2"], ""]);
  expect(reads).toBe(1);
});

it("what a form showed is read once for all of its fields", () => {
  const asked: Array<string> = [];
  const fields = fieldsFrom((name) => {
    asked.push(name);
    return name === "shown" ? [marksOf({ a: "1", b: ["2", "3"], c: "4" })] : ["1"];
  });
  expect(["a", "b", "c"].map((name) => isUntouched(fields, name))).toEqual([true, false, false]);
  expect(asked.filter((name) => name === "shown")).toEqual(["shown"]);
});

it("a list is split at line breaks and commas, without empty entries", () => {
  expect(entriesOf(" 192.0.2.1 \r\n\n198.51.100.0/24, 2001:db8::/32,")).toEqual([
    "192.0.2.1",
    "198.51.100.0/24",
    "2001:db8::/32",
  ]);
});

it.each([
  ["denyIps", "192.0.2.1\n192.0.2.256", "“192.0.2.256” is neither an address"],
  [
    "redirectOrigins",
    "https://a.example\nb.example",
    "“b.example” is not a site; it begins with https://, such as https://example.com",
  ],
  [
    "redirectOrigins",
    "https://a.example/done",
    "“https://a.example/done” is an address of a page; enter its site alone: https://a.example",
  ],
])("the error for the list %s %j names the wrong entry and the reason", async (name, typed, reason) => {
  const raw = { name: "Bot", scope: "global", [name]: entriesOf(typed) };
  const error = await Effect.runPromise(Effect.flip(valuesReader(DashboardKeys.createKey)(raw)));
  expect(explained(error, DashboardKeys.createKey, raw)).toMatchObject({
    parameters: [{ name, reason: expect.stringContaining(reason) }],
  });
});

it("every page in the reader's language can say why a value of its forms is refused", () => {
  const inEnglish = /Keys?$|Webhooks?$|Deliver(?:y|ies)$|getUsage/;
  const uncoded = dashboardRoutes
    .filter(({ id }) => !inEnglish.test(id))
    .flatMap(({ id, parameters }) =>
      Object.entries(parameters).flatMap(([name, { expected }]) => (expected ? [] : [`${id}: ${name}`])),
    );
  expect(uncoded).toEqual([]);
});
