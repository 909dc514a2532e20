import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { Distribution, type Taker } from "./distribution.ts";

/** A socket that notes whether it is closed on this side. */
const makeSocket = (name: string) => {
  const socket = { name, isClosed: false, destroy: () => Object.assign(socket, { isClosed: true }) };
  return socket as unknown as Socket & { readonly name: string; readonly isClosed: boolean };
};

/** A worker that notes what it was handed, and takes it when told. */
const makeWorker = (distribution: Distribution) => {
  const handed: Array<{ readonly connection: number; readonly name: string }> = [];
  const taker: Taker = {
    take: (connection, socket) => {
      handed.push({ connection, name: (socket as unknown as { readonly name: string }).name });
    },
  };
  const takeAll = () => {
    for (const { connection } of handed) distribution.taken(taker, connection);
  };
  return { taker, takeAll, names: () => handed.map(({ name }) => name) };
};

const handAll = (distribution: Distribution, ...names: ReadonlyArray<string>) => {
  const sockets = names.map(makeSocket);
  for (const socket of sockets) distribution.hand(socket);
  return sockets;
};

describe("Distribution", () => {
  it("hands connections to workers in turn, and closes them here once they were taken", () => {
    const distribution = new Distribution();
    const [one, other] = [makeWorker(distribution), makeWorker(distribution)];
    for (const { taker } of [one, other]) distribution.add(taker);
    const sockets = handAll(distribution, "a", "b", "c", "d");
    expect([one.names(), other.names()]).toEqual([
      ["a", "c"],
      ["b", "d"],
    ]);
    expect(sockets.map(({ isClosed }) => isClosed)).toEqual([false, false, false, false]);
    one.takeAll();
    expect(sockets.map(({ isClosed }) => isClosed)).toEqual([true, false, true, false]);
  });

  it("hands what a worker that ended did not take to another one, and never what it took", () => {
    const distribution = new Distribution();
    const [one, other] = [makeWorker(distribution), makeWorker(distribution)];
    distribution.add(one.taker);
    handAll(distribution, "taken");
    one.takeAll();
    handAll(distribution, "a", "b");
    distribution.add(other.taker);
    distribution.remove(one.taker);
    expect(other.names()).toEqual(["a", "b"]);
  });

  it("keeps connections until there is a worker", () => {
    const distribution = new Distribution();
    const [one, other] = [makeWorker(distribution), makeWorker(distribution)];
    handAll(distribution, "a");
    distribution.add(one.taker);
    distribution.remove(one.taker);
    distribution.add(other.taker);
    expect([one.names(), other.names()]).toEqual([["a"], ["a"]]);
  });

  it("passes by a worker that hangs", () => {
    const distribution = new Distribution();
    const [hanging, other] = [makeWorker(distribution), makeWorker(distribution)];
    for (const { taker } of [hanging, other]) distribution.add(taker);
    for (const name of ["a", "b", "c", "d"]) {
      handAll(distribution, name);
      other.takeAll();
    }
    expect([hanging.names(), other.names()]).toEqual([["a"], ["b", "c", "d"]]);
  });

  it("closes what nobody took at the end", () => {
    const distribution = new Distribution();
    const [socket] = handAll(distribution, "a");
    distribution.close();
    expect(socket?.isClosed).toBe(true);
  });
});
