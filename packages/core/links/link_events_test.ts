import { assert, testWith } from "@accountlink/test-servers/effect";
import { Layer, Stream } from "effect";
import { flowServices, setupFlow } from "../flow/test_flows.ts";
import { chatId, gameId } from "../test_services.ts";
import { OwnLinks } from "../users/own_data.ts";
import { LinkEvents } from "./link_events.ts";

const ada = chatId("10001");
const services = Layer.provideMerge(OwnLinks.layer, flowServices);

testWith(services)(
  "subscribers learn of a new link and its removal, but not of a repeated link",
  function* () {
    const { subscribe } = yield* LinkEvents;
    const events = yield* subscribe("linkChanged");
    const { browser, byScope, key, link } = yield* setupFlow();
    const { scope } = key;
    yield* browser.walk(byScope);
    yield* browser.confirm(byScope);
    yield* link("1");
    yield* browser.walk(byScope);
    yield* browser.confirm(byScope);
    const own = yield* OwnLinks;
    yield* own.remove(ada, scope.pid, "req_test");
    assert.deepStrictEqual(yield* Stream.runCollect(Stream.take(events, 2)), [
      { scope, chatId: ada, gameId: gameId("1"), previousGameId: null },
      { scope, chatId: ada, gameId: null, previousGameId: gameId("1") },
    ]);
  },
);
