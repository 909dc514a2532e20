/** Times at which each alert of deploy/alerts.yml fires and clears, in promtool's notation with a value every 15 s. */

interface AlertCase {
  /** The values of each series in promtool's notation: `0x4` is 0 and four repetitions, `0+2x3` is 0 2 4 6, `_` is a gap. */
  readonly series: Readonly<Record<string, string>>;
  readonly fires: string;
  readonly clears: string;
  /** The labels that the firing alert has in addition to the labels of its rule, such as the node or route. */
  readonly of?: Readonly<Record<string, string>>;
}

const node = 'instance="10.0.0.1:9090",job="accountlink"';
const ofNode = { instance: "10.0.0.1:9090", job: "accountlink" };
const otherNode = 'instance="10.0.0.2:9090",job="accountlink"';
const requests = (labels: string) => `accountlink_http_requests_total{${node},${labels}}`;
const buckets = (le: string) => `accountlink_http_request_seconds_bucket{${node},route="getChat",le="${le}"}`;

export const alertCases: Readonly<Record<string, AlertCase>> = {
  AccountlinkDown: {
    series: { [`up{${node}}`]: "0x8 1x8", [`up{${otherNode}}`]: "1x16" },
    fires: "90s",
    clears: "3m",
    of: ofNode,
  },
  AccountlinkNotReady: {
    series: { [`accountlink_ready{${node}}`]: "0x8 1x8", [`accountlink_ready{${otherNode}}`]: "1x16" },
    fires: "90s",
    clears: "3m",
    of: ofNode,
  },
  AccountlinkNoneReady: {
    series: { [`accountlink_ready{${node}}`]: "0x8 1x8", [`accountlink_ready{${otherNode}}`]: "0x16" },
    fires: "60s",
    clears: "3m",
  },
  // Prometheus first sees this series after a failed request, with the value 1. So it never sees the counter grow, but
  // the alert must still fire.
  AccountlinkBug: {
    series: { [requests('route="getChat",status="500",code="INTERNAL_ERROR"')]: "_x4 1x40" },
    fires: "2m",
    clears: "10m",
    of: { route: "getChat" },
  },
  AccountlinkUnavailable: {
    series: { [requests('route="getChat",status="503",code="INTERNAL_ERROR"')]: "0+1x20 20x20" },
    fires: "3m",
    clears: "8m",
    of: { route: "getChat" },
  },
  AccountlinkRedisDown: {
    series: { [`accountlink_redis_up{${node}}`]: "0x8 1x8" },
    fires: "90s",
    clears: "3m",
    of: ofNode,
  },
  AccountlinkLimitsAlone: {
    series: { [`accountlink_limits_alone{${node}}`]: "1x8 0x8" },
    fires: "90s",
    clears: "3m",
    of: ofNode,
  },
  AccountlinkEventsKept: {
    series: {
      [`accountlink_events_oldest_seconds{${node}}`]: "2700000x60 2592000x40",
      [`accountlink_events_retention_seconds{${node}}`]: "2592000x100",
    },
    fires: "12m",
    clears: "20m",
    of: ofNode,
  },
  AccountlinkWebhooksLate: {
    series: { [`accountlink_webhook_backlog_seconds{${node}}`]: "1000x60 0x40" },
    fires: "12m",
    clears: "20m",
    of: ofNode,
  },
  AccountlinkRolesLate: {
    series: { [`accountlink_role_oldest_change_seconds{${node}}`]: "1000x60 0x40" },
    fires: "12m",
    clears: "20m",
    of: ofNode,
  },
  AccountlinkSlow: {
    series: {
      [buckets("0.1")]: "0x60 0+100x60",
      [buckets("0.25")]: "0+10x60 600+100x60",
      [buckets("+Inf")]: "0+10x60 600+100x60",
    },
    fires: "8m",
    clears: "25m",
  },
  AccountlinkEventLoopLate: {
    series: { [`nodejs_eventloop_lag_p99_seconds{${node}}`]: "0.5x40 0x20" },
    fires: "6m",
    clears: "12m",
    of: ofNode,
  },
  AccountlinkDatabaseBusy: {
    series: { [`accountlink_database_waiting{${node}}`]: "3x40 0x40" },
    fires: "4m",
    clears: "12m",
    of: ofNode,
  },
  AccountlinkDescriptorsShort: {
    series: { [`process_open_fds{${node}}`]: "900x20 100x20", [`process_max_fds{${node}}`]: "1000x40" },
    fires: "2m",
    clears: "7m",
    of: ofNode,
  },
  AccountlinkPlatformFailing: {
    series: { [`accountlink_platform_circuit_state{${node},platform="chat"}`]: "2 1 2 1 2 1 2 1 2 1 0x20" },
    fires: "2m",
    clears: "6m",
    of: { ...ofNode, platform: "chat" },
  },
  AccountlinkRefusals: {
    series: {
      [requests('route="getChat",status="401",code="INVALID_API_KEY"')]: "0+1x4800 4950+150x40 10950x80",
    },
    fires: "20h8m",
    clears: "20h28m",
  },
};
