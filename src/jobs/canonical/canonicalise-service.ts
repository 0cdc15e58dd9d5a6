import type {
  connectBlock,
  gatewayBlock,
  ingressBlock,
  sidecarProxyBlock,
  sidecarServiceBlock,
  sidecarTaskBlock,
} from '../document/connect.js';
import { secondNanos } from '../document/document-values.js';
import type { Submitted } from '../document/field-table.js';
import type { checkRestartBlock } from '../document/policies.js';
import type { serviceCheckBlock } from '../document/service.js';
import type { SubmittedService } from '../document/submitted-job.js';
import { canonicaliseLogs, canonicaliseResources, canonicaliseVolumeMount } from './canonicalise-task-parts.js';
import { defaultKillTimeout, mapList, nullIfEmpty } from './default-policies.js';

type CheckRestart = Submitted<typeof checkRestartBlock>;
type Check = Submitted<typeof serviceCheckBlock>;
type Connect = Submitted<typeof connectBlock>;
type SidecarService = Submitted<typeof sidecarServiceBlock>;
type SidecarProxy = Submitted<typeof sidecarProxyBlock>;
type SidecarTask = Submitted<typeof sidecarTaskBlock>;
type Gateway = Submitted<typeof gatewayBlock>;
type Ingress = Submitted<typeof ingressBlock>;

/** A service with its defaults; `defaultName` is `<job>-<group>` or `<job>-<group>-<task>`. */
export function canonicaliseService(service: SubmittedService, defaultName: string): SubmittedService {
  const OnUpdate = service.OnUpdate || 'require_healthy';
  return {
    ...service,
    Name: service.Name || defaultName,
    AddressMode: service.AddressMode || 'auto',
    OnUpdate,
    Provider: service.Provider || 'consul',
    Cluster: service.Cluster || 'default',
    Meta: nullIfEmpty(service.Meta),
    CanaryMeta: nullIfEmpty(service.CanaryMeta),
    TaggedAddresses: nullIfEmpty(service.TaggedAddresses),
    Connect: service.Connect === null ? null : canonicaliseConnect(service.Connect),
    Checks: mapList(service.Checks, (check) => canonicaliseCheck(check, service.CheckRestart, OnUpdate)),
    Weights:
      service.Weights === null
        ? null
        : { Passing: Math.max(1, service.Weights.Passing), Warning: Math.max(1, service.Weights.Warning) },
  };
}

function canonicaliseCheck(check: Check, ofService: CheckRestart | null, onUpdate: string): Check {
  const restart = restartOfCheck(ofService, check.CheckRestart);
  return {
    ...check,
    CheckRestart: restart === null ? null : { ...restart, Grace: restart.Grace ?? secondNanos },
    SuccessBeforePassing: Math.max(0, check.SuccessBeforePassing),
    FailuresBeforeCritical: Math.max(0, check.FailuresBeforeCritical),
    FailuresBeforeWarning: Math.max(0, check.FailuresBeforeWarning),
    OnUpdate: check.OnUpdate || onUpdate,
  };
}

function restartOfCheck(ofService: CheckRestart | null, own: CheckRestart | null): CheckRestart | null {
  if (ofService === null || own === null) return own ?? ofService;
  return {
    Limit: own.Limit > 0 ? own.Limit : ofService.Limit,
    Grace: own.Grace ?? ofService.Grace,
    IgnoreWarnings: own.IgnoreWarnings || ofService.IgnoreWarnings,
  };
}

function canonicaliseConnect(connect: Connect): Connect {
  return {
    ...connect,
    SidecarService: connect.SidecarService === null ? null : canonicaliseSidecarService(connect.SidecarService),
    SidecarTask: connect.SidecarTask === null ? null : canonicaliseSidecarTask(connect.SidecarTask),
    Gateway: connect.Gateway === null ? null : canonicaliseGateway(connect.Gateway),
  };
}

function canonicaliseSidecarService(sidecar: SidecarService): SidecarService {
  return {
    ...sidecar,
    Tags: nullIfEmpty(sidecar.Tags),
    Meta: nullIfEmpty(sidecar.Meta),
    Proxy: sidecar.Proxy === null ? null : canonicaliseSidecarProxy(sidecar.Proxy),
  };
}

function canonicaliseSidecarProxy(proxy: SidecarProxy): SidecarProxy {
  // If both forms are given, the older one applies.
  const expose = proxy.ExposeConfig ?? proxy.Expose;
  return {
    ...proxy,
    Expose: expose === null ? null : { Paths: nullIfEmpty(expose.Path) ?? nullIfEmpty(expose.Paths), Path: null },
    ExposeConfig: null,
    Upstreams: nullIfEmpty(mapList(proxy.Upstreams, (up) => ({ ...up, Config: nullIfEmpty(up.Config) }))),
    TransparentProxy:
      proxy.TransparentProxy === null
        ? null
        : {
            ...proxy.TransparentProxy,
            ExcludeInboundPorts: nullIfEmpty(proxy.TransparentProxy.ExcludeInboundPorts),
            ExcludeOutboundPorts: nullIfEmpty(proxy.TransparentProxy.ExcludeOutboundPorts),
            ExcludeOutboundCIDRs: nullIfEmpty(proxy.TransparentProxy.ExcludeOutboundCIDRs),
            ExcludeUIDs: nullIfEmpty(proxy.TransparentProxy.ExcludeUIDs),
          },
    Config: nullIfEmpty(proxy.Config),
  };
}

function canonicaliseSidecarTask(task: SidecarTask): SidecarTask {
  return {
    ...task,
    Config: nullIfEmpty(task.Config),
    Env: nullIfEmpty(task.Env),
    Meta: nullIfEmpty(task.Meta),
    Resources: canonicaliseResources(task.Resources),
    LogConfig: canonicaliseLogs(task.LogConfig),
    KillTimeout: task.KillTimeout ?? defaultKillTimeout,
    ShutdownDelay: task.ShutdownDelay ?? 0,
    VolumeMounts: mapList(task.VolumeMounts, canonicaliseVolumeMount),
  };
}

function canonicaliseGateway(gateway: Gateway): Gateway {
  return {
    ...gateway,
    Proxy:
      gateway.Proxy === null
        ? null
        : {
            ...gateway.Proxy,
            ConnectTimeout: gateway.Proxy.ConnectTimeout ?? 5 * secondNanos,
            EnvoyGatewayBindAddresses: nullIfEmpty(gateway.Proxy.EnvoyGatewayBindAddresses),
            Config: nullIfEmpty(gateway.Proxy.Config),
          },
    Ingress: gateway.Ingress === null ? null : canonicaliseIngress(gateway.Ingress),
    Terminating: gateway.Terminating === null ? null : { Services: nullIfEmpty(gateway.Terminating.Services) },
  };
}

function canonicaliseIngress(ingress: Ingress): Ingress {
  return {
    ...ingress,
    Listeners: nullIfEmpty(
      mapList(ingress.Listeners, (listener) => ({
        ...listener,
        Protocol: listener.Protocol || 'tcp',
        Services: nullIfEmpty(listener.Services),
      })),
    ),
  };
}
