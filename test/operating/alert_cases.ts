/** Times at which each alert of deploy/alerts.yml fires and clears, in promtool's notation with a value every 15 s. */

type Labels = Readonly<Record<string, string>>;

/**
 * The values of each series in promtool's notation: `0x4` is 0 and four repetitions, `0+2x3` is 0 2 4 6, `_` is a gap.
 * `of` has the labels that the firing alert has in addition to the labels of its rule, such as the node or route.
 */
type AlertCase = readonly [series: Labels, fires: string, clears: string, of?: Labels];

const node = 'instance="10.0.0.1:9090",job="accountlink"';
const ofNode = { instance: "10.0.0.1:9090", job: "accountlink" };
const otherNode = 'instance="10.0.0.2:9090",job="accountlink"';
const requests = (labels: string) => `accountlink_http_requests_total{${node},${labels}}`;
const buckets = (le: string) => `accountlink_http_request_seconds_bucket{${node},route="getChat",le="${le}"}`;

/** An alert about one series of the node. */
const onNode = (metric: string, values: string, fires: string, clears: string): AlertCase => [
  { [`${metric}{${node}}`]: values },
  fires,
  clears,
  ofNode,
];

export const alertCases: Readonly<Record<string, AlertCase>> = {
  AccountlinkDown: [{ [`up{${node}}`]: "0x8 1x8", [`up{${otherNode}}`]: "1x16" }, "90s", "3m", ofNode],
  AccountlinkNotReady: [
    { [`accountlink_ready{${node}}`]: "0x8 1x8", [`accountlink_ready{${otherNode}}`]: "1x16" },
    "90s",
    "3m",
    ofNode,
  ],
  AccountlinkNoneReady: [
    { [`accountlink_ready{${node}}`]: "0x8 1x8", [`accountlink_ready{${otherNode}}`]: "0x16" },
    "60s",
    "3m",
  ],
  // Prometheus first sees this series after a failed request, with the value 1. So it never sees the counter grow, but
  // the alert must still fire.
  AccountlinkBug: [
    { [requests('route="getChat",status="500",code="INTERNAL_ERROR"')]: "_x4 1x40" },
    "2m",
    "10m",
    { route: "getChat" },
  ],
  AccountlinkUnavailable: [
    { [requests('route="getChat",status="503",code="INTERNAL_ERROR"')]: "0+1x20 20x20" },
    "3m",
    "8m",
    { route: "getChat" },
  ],
  AccountlinkRedisDown: onNode("accountlink_redis_up", "0x8 1x8", "90s", "3m"),
  AccountlinkLimitsAlone: onNode("accountlink_limits_alone", "1x8 0x8", "90s", "3m"),
  AccountlinkEventsKept: [
    {
      [`accountlink_events_oldest_seconds{${node}}`]: "2700000x60 2592000x40",
      [`accountlink_events_retention_seconds{${node}}`]: "2592000x100",
    },
    "12m",
    "20m",
    ofNode,
  ],
  AccountlinkWebhooksLate: onNode("accountlink_webhook_backlog_seconds", "1000x60 0x40", "12m", "20m"),
  AccountlinkRolesLate: onNode("accountlink_role_oldest_change_seconds", "1000x60 0x40", "12m", "20m"),
  AccountlinkGatewayRestarts: [
    { [`accountlink_chat_gateway_connections_total{${node},kind="identify"}`]: "0+1x80 80x240" },
    "12m",
    "60m",
  ],
  AccountlinkSlow: [
    {
      [buckets("0.1")]: "0x60 0+100x60",
      [buckets("0.25")]: "0+10x60 600+100x60",
      [buckets("+Inf")]: "0+10x60 600+100x60",
    },
    "8m",
    "25m",
  ],
  AccountlinkEventLoopLate: onNode("nodejs_eventloop_lag_p99_seconds", "0.5x40 0x20", "6m", "12m"),
  AccountlinkDatabaseBusy: onNode("accountlink_database_waiting", "3x40 0x40", "4m", "12m"),
  AccountlinkDescriptorsShort: [
    { [`process_open_fds{${node}}`]: "900x20 100x20", [`process_max_fds{${node}}`]: "1000x40" },
    "2m",
    "7m",
    ofNode,
  ],
  AccountlinkDiskShort: onNode("accountlink_disk_free_bytes", "1000x60 9000000000x40", "12m", "20m"),
  AccountlinkBackupOld: [
    {
      [`accountlink_backup_age_seconds{${node}}`]: "200000x60 60x40",
      [`accountlink_backup_every_seconds{${node}}`]: "86400x100",
    },
    "12m",
    "20m",
    ofNode,
  ],
  AccountlinkClockApart: [
    { [`accountlink_clock_lead_seconds{${node}}`]: "-7200x30 1x20" },
    "5m",
    "15m",
    ofNode,
  ],
  AccountlinkResting: [{ [`accountlink_storage_resting{${node}}`]: "1x40 0x20" }, "6m", "15m", ofNode],
  AccountlinkPlatformFailing: [
    { [`accountlink_platform_circuit_state{${node},platform="chat"}`]: "2 1 2 1 2 1 2 1 2 1 0x20" },
    "2m",
    "6m",
    { ...ofNode, platform: "chat" },
  ],
  AccountlinkRefusals: [
    { [requests('route="getChat",status="401",code="INVALID_API_KEY"')]: "0+1x4800 4950+150x40 10950x80" },
    "20h8m",
    "20h28m",
  ],
  AccountlinkUnwatched: [{ [`up{${node}}`]: "_x40 1x40" }, "8m", "15m", { job: "accountlink" }],
  AccountlinkRestarts: onNode("process_start_time_seconds", "1x4 2x4 3x4 4x200", "4m", "45m"),
  AccountlinkMachineDiskShort: [
    {
      'node_filesystem_avail_bytes{instance="db",fstype="ext4"}': "5x60 50x40",
      'node_filesystem_size_bytes{instance="db",fstype="ext4"}': "100x100",
    },
    "12m",
    "20m",
    { instance: "db", fstype: "ext4" },
  ],
  AccountlinkMachineMemoryShort: [
    {
      'node_memory_MemAvailable_bytes{instance="db"}': "5x60 50x40",
      'node_memory_MemTotal_bytes{instance="db"}': "100x100",
    },
    "12m",
    "20m",
    { instance: "db" },
  ],
  AccountlinkRedisMemoryShort: [
    {
      'redis_memory_used_bytes{instance="cache"}': "90x60 50x40",
      'redis_memory_max_bytes{instance="cache"}': "100x100",
    },
    "12m",
    "20m",
    { instance: "cache" },
  ],
  AccountlinkBackupOfStoreOld: [
    { 'node_textfile_mtime_seconds{instance="db",file="backup_of_accountlink.prom"}': "-200000x60 0x40" },
    "12m",
    "20m",
    { instance: "db", file: "backup_of_accountlink.prom" },
  ],
  AccountlinkCertificateEnds: [
    { 'probe_ssl_earliest_cert_expiry{instance="links"}': "86400x300 9000000x40" },
    "70m",
    "80m",
    { instance: "links" },
  ],
};
