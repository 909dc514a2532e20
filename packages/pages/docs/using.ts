/** What every caller of the API asks first: where to find it, and how keys, limits and repeated requests work. */
import { type Html, html, section, to } from "../html.ts";

/** The questions of a developer, each one click from its answer. */
const answers: ReadonlyArray<readonly [question: string, target: string]> = [
  ["Get a key", "using"],
  ["Look one user up", "getChat"],
  ["Look 50 up at once", "bulkChat"],
  ["Link an account", "patchGame"],
  ["Let a user verify", "createSession"],
  ["Follow every change", "getEvents"],
  ["Check a webhook's signature", "receiveLinkSet"],
  ["Write safely twice", "repeating"],
  ["How often may I ask?", "limits"],
  ["What does this refusal want?", "errors"],
];

export const tasks: Html = html`<ul aria-label="Tasks" class="tasks">${answers.map(
  ([question, target]) => html`<li><a href="#${target}">${question}</a></li>`,
)}</ul>`;

export const usingSection = (hasGuide: boolean): Html => section("Keys, limits, trying again", "using")`
<ul>
<li>You make a key on the <a href="${to("/dashboard/keys")}">dashboard</a>, or get one from the operator. It is shown once.</li>
<li>Send it as <code>Authorization: Bearer alk_…</code>. Keep it on a server: there are no CORS headers.</li>
<li>A global key has its account's links, a guild key those of one guild. Different scopes share nothing.</li>
<li>With a guild key, name its guild as <code>guildId</code>; with a global key, the rules of a guild hold only if you name it.</li>
<li>A key's access says what it may do: everything, read, verify, name players, or manage communities.</li>
<li><code>X-Key-Expires</code> is sent in the last 7 days of a key.</li>
</ul>
<ul id="limits">
<li>A key has a short window, such as 1 request in 2 seconds, and a day, which ends at midnight UTC. Sessions have a day of their own.</li>
<li><code>X-RateLimit-Limit</code>, <code>-Remaining</code> and <code>-Reset</code> tell the window, <code>X-RateLimit-Limit-Day</code> and
<code>-Remaining-Day</code> the day, <code>RateLimit-Policy</code> and <code>RateLimit</code> both in standard form.</li>
<li>A bulk request costs one request. A refused request costs nothing when a limit refused it.</li>
<li>A client address has limits too, over all of its keys. Wrong keys count against it.</li>
<li>After a 429, wait as many seconds as <code>Retry-After</code> says. <code>error.details.bucket</code> names the limit.</li>
<li>Fair use: no further keys, accounts or addresses to get around a limit, no reading of links that you do not need.</li>
</ul>
<ul id="repeating">
<li>Repeat any request after a 503, a timeout or a broken connection: a few times, with a longer pause each time.</li>
<li>Send a write with <code>Idempotency-Key: </code>and a name of your own, such as a UUID. The same request under it is done once.</li>
<li>Its first answer is kept for 24 hours, and repeated with <code>Idempotent-Replayed: true</code>.</li>
<li>Without one, the answer to a repeated write says whether the first got through: <code>updated: false</code>.</li>
<li>Do not repeat other refusals unchanged: they ask for something. Report <code>meta.requestId</code> of a 500.</li>
${
  hasGuide &&
  html`<li>More in the <a href="${to("/guide")}">guide</a>: clients, sessions, events, signatures, and every rule.</li>`
}
</ul>`;
