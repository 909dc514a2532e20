import { docs } from "@accountlink/pages/docs";
import { isProof } from "@accountlink/test-servers";
import { afterAll, describe, expect, it } from "vitest";
import { makeWeb } from "./test_web.ts";

const web = makeWeb();
afterAll(web.stop);

/**
 * A minimal browser for a service at `/links`. It keeps cookies by path, follows redirects, and signs in to both
 * platforms.
 */
const openBrowser = (publicUrl: string) => {
  const handler = web.handler({ publicUrl, basePath: "/links", docs });
  const cookies = new Map<string, { readonly path: string; readonly value: string }>();

  const send = async (method: string, address: string, form?: Record<string, string>): Promise<Page> => {
    const url = new URL(address, publicUrl);
    if (url.hostname.endsWith(".invalid")) return signIn(url);
    const sent = [...cookies].filter(
      ([, { path }]) => path === "/" || `${url.pathname}/`.startsWith(`${path}/`),
    );
    const headers = {
      cookie: sent.map(([name, { value }]) => `${name}=${value}`).join("; "),
      "content-type": "application/x-www-form-urlencoded",
    };
    const body = form === undefined ? {} : { body: new URLSearchParams(form).toString() };
    const response = await handler.fetch(new Request(url, { method, headers, ...body }), {
      clientAddress: "203.0.113.7",
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = "", path = ""] = /^([^=]+)=([^;]*).*?; Path=([^;]*)/.exec(line) ?? [];
      cookies.set(name, { path, value });
    }
    const location = response.headers.get("location");
    if (location !== null) return send("GET", location);
    return { url, status: response.status, text: await response.text() };
  };

  /** Simulates the platforms, which redirect the user back at once. */
  const signIn = (url: URL) => {
    const { redirect_uri: back = "", state = "" } = Object.fromEntries(url.searchParams);
    const code = url.hostname.startsWith("chat") ? "100001" : "1";
    return send("GET", `${back}?${new URLSearchParams({ state, code })}`);
  };

  return {
    cookies,
    get: (address: string) => send("GET", address),
    post: (address: string, form: Record<string, string>) => send("POST", address, form),
    handler,
  };
};

interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

/** The paths of this origin that a page links to, loads, or sends forms to. */
const pathsOf = ({ text }: Page): ReadonlyArray<string> =>
  [...text.matchAll(/ (?:href|src|action|data-leaves-for)=(?:"|&quot;)(\/.*?)(?:"|&quot;)/g)].map(
    ([, path = ""]) => path.replaceAll("&amp;", "&"),
  );

const formOf = ({ text }: Page): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  );

/** Opens every page that is reachable from a page, and returns their paths. */
const crawl = async (browser: ReturnType<typeof openBrowser>, start: string) => {
  const found = new Set([start]);
  for (const path of found) {
    // Skip links with a `sid`. They are links of the preview, and their session does not exist.
    if (path.includes("sid=")) continue;
    const page = await browser.get(path);
    // The path of a form may answer 405, because it accepts only POST.
    if (page.status !== 200 && page.status !== 405) throw new Error(`${path} answers ${page.status}`);
    for (const next of pathsOf(page)) found.add(next.replace(/#.*/, ""));
  }
  return [...found];
};

describe.each(["https://ours.example", "http://localhost:3000"])("below a path of %s", (publicUrl) => {
  it("a user can verify when the service runs below a base path", async () => {
    const browser = openBrowser(publicUrl);
    const created = await browser.handler.fetch(
      new Request(`${publicUrl}/links/v2/sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${await web.newKey()}`, "content-type": "application/json" },
        body: JSON.stringify({ clientId: "7" }),
      }),
      { clientAddress: "203.0.113.7" },
    );
    const { data } = (await created.json()) as { readonly data: { readonly url: string } };
    expect(data.url).toContain(`${publicUrl}/links/verify?sid=`);

    let page = await browser.get(data.url);
    for (const step of ["chat", "game"]) {
      page = await browser.get(pathsOf(page).find((path) => path.includes(`/${step}/start`)) ?? "");
      expect(page.url.href).toContain(`${publicUrl}/links/verify?sid=`);
    }
    const done = await browser.post(
      pathsOf(page).find((path) => path.endsWith("/confirm")) ?? "",
      formOf(page),
    );
    expect(done.text).toContain("Your accounts are linked");
  });

  // The pages are the same for both addresses, so only the proof visits all of them twice.
  const starts =
    publicUrl.startsWith("https") || isProof
      ? ["/links/dashboard", "/links/me", "/links/docs"]
      : ["/links/me"];
  it.each(starts)("every page from %s on is", async (start) => {
    const browser = openBrowser(publicUrl);
    const found = await crawl(browser, start);
    expect(found.filter((path) => !path.startsWith("/links/"))).toEqual([]);
    expect(found.length).toBeGreaterThan(start === "/links/dashboard" ? 30 : 1);
    const paths = [...browser.cookies].map(([name, { path }]) => [name.startsWith("__Host-"), path] as const);
    for (const [isHost, path] of paths) expect(path).toMatch(isHost ? /^\/$/ : /^\/links/);
  });
});

it.each(["/docs", "/linksdocs", "/links-docs"])("%s is outside of the base path", async (path) => {
  expect((await openBrowser("https://ours.example").get(path)).status).toBe(404);
});
