/** `Promise.withResolvers`, which Node 20 does not have, so that the compiler refuses it. */
export const withResolvers = <A>() => {
  let resolve!: (value: A) => void;
  const promise = new Promise<A>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
};
