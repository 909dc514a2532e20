/** Route handlers of Next.js that serve accountlink under /links. */
import { createAccountLink, type PromisedAccountLink } from "accountlink";

let opened: Promise<PromisedAccountLink> | undefined;

/** Called by the first request rather than at once, since `next build` also loads this module. */
const open = async (): Promise<PromisedAccountLink> => {
  const al = await createAccountLink({
    gameUserExists: async (id) => id === "1",
    http: { publicUrl: "http://localhost:3000", basePath: "/links", clientAddress: "given" },
  });
  console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);
  process.once("SIGTERM", () => void al.close());
  return al;
};

/**
 * Reads the client address that the proxy in front of Next appended to `x-forwarded-for`: clients can send the addresses
 * before it. Without a proxy they can send the whole header, so use `clientAddress: "none"` there.
 */
const answer = async (request: Request): Promise<Response> => {
  opened ??= open();
  const clientAddress = request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
  return (await opened).fetch(request, { clientAddress });
};

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
};
