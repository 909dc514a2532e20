import { makeBalancer } from "./balancer.ts";

const haproxy = makeBalancer({
  name: "HAProxy",
  names: ["haproxy"],
  path: "usr/sbin/haproxy",
  packages: ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
  argumentsFor: (config) => ["-db", "-f", config],
});

/** Why HAProxy is unavailable, or null; it is shown in titles of skipped tests. Throws with CI=true. */
export const whyNoHaproxy = haproxy.whyNone;

/**
 * Starts an HAProxy that listens on a free port, and returns the port. It ends with the scope or this process.
 *
 * @param configFor returns its configuration for a port of 127.0.0.1
 */
export const startHaproxy = haproxy.start;
