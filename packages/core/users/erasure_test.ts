import { expect, it } from "@accountlink/test-servers/effect";
import { Pid } from "../ids.ts";
import { countErased } from "./user_store.ts";

it("erasures count the scopes in the same order, in whatever order a database deletes", () => {
  const [one, two] = [Pid.make("pid_1111111111111111"), Pid.make("pid_2222222222222222")];
  for (const pids of [
    [one, two],
    [two, one],
  ]) {
    const { byScope } = countErased(pids.map((pid) => ({ what: "reviews", pid })));
    expect([...byScope.keys()]).toEqual([one, two]);
  }
});
