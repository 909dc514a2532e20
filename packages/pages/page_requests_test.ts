import { RequestLimits } from "@accountlink/core";
import { SecurityLog } from "@accountlink/core/audit";
import { UsageMeter } from "@accountlink/core/usage";
import { HttpResponse, HttpSettings } from "@accountlink/http/for_pages";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Stream } from "effect";
import { Languages } from "./languages/reader_language.ts";
import { makePageHandler } from "./page_requests.ts";

const steps: Array<string> = [];

const test = testWith(
  Layer.mergeAll(
    Layer.succeed(HttpSettings, { publicUrl: "http://localhost", trustedProxies: [] }),
    Layer.mock(RequestLimits)({
      admitBeside: null,
      admitAddress: () => Effect.sync(() => void steps.push("admit")),
    }),
    Layer.mock(SecurityLog)({ noteRefusal: () => Effect.void }),
    Layer.mock(UsageMeter)({ count: () => {} }),
    Languages.layer,
  ),
);

test("no header is read for the language of a page before its address was admitted", function* () {
  const { keylessAnswer } = yield* makePageHandler<never>({
    pageOf: () => new HttpResponse(500, {}, null),
    publicOf: () => null,
  });
  const answer = keylessAnswer("page", () => Effect.succeed(new HttpResponse(200, {}, null)));
  yield* answer(
    {
      method: "GET",
      url: "/go",
      remoteAddress: undefined,
      header: (name) => {
        steps.push(name);
        return undefined;
      },
      readBody: () => Effect.succeed(new Uint8Array()),
      streamBody: () => Stream.empty,
    },
    {},
  );
  expect(steps).toEqual(expect.arrayContaining(["admit", "cookie", "accept-language"]));
  expect(steps.indexOf("admit")).toBeLessThan(steps.indexOf("cookie"));
});
