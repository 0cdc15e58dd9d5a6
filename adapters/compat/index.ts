import type { Engine } from '../../src/index.js';
import { checkArgument, checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { listOf, oneOf, optional, port } from '../../src/options/option-kinds.js';
import { routeTable } from '../http-server/calls/route-table.js';
import { neutral } from '../http-server/dialect.js';
import { type HandlerOptions, handlerOver, optionTable } from '../http-server/http-handler.js';
import type { Vocabulary } from '../http-server/http-message.js';
import type { UpgradeHandler } from '../http-server/sockets/upgrade-listener.js';
import { nomad, nomadRoutes } from './nomad.js';
import { deliveryResponses, discoveryRoute, introduced } from './terraform.js';

export type { MessageSocket, SocketEnd } from '../../src/api/message-socket.js';
export { fetchHandler } from '../http-server/bridges/fetch-handler.js';
export {
  type FastifyExchange,
  fastifyRoute,
  type NodeListenerOptions,
  nodeListener,
} from '../http-server/bridges/node-listener.js';
export type { AccessOptions } from '../http-server/edge/access.js';
export type { PageOptions } from '../http-server/edge/page.js';
export { type Claimant, type ConnectionLimits, limitConnections } from '../http-server/edge/shares.js';
export type { HandlerOptions } from '../http-server/http-handler.js';
export {
  type BodyAllowance,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  type RequestBody,
  type RequestHeaders,
  type RequestParts,
  requestFrom,
  type StreamedBody,
  type Vocabulary,
} from '../http-server/http-message.js';
export {
  type Admit,
  type UpgradeAnswer,
  type UpgradeHandler,
  type UpgradeListener,
  type UpgradeOptions,
  upgradeListener,
} from '../http-server/sockets/upgrade-listener.js';
export type { SocketBounds } from '../http-server/sockets/web-socket.js';

/** Who may call the handler, where it is mounted, whose clients call it, and its limits. */
export type HttpHandlerOptions = HandlerOptions & {
  /**
   * The servers whose existing clients call the handler: `nomad` for the job interface, `terraform` (HCP Terraform) for the notification
   * interface. Default: both, if the engine's setting `notifications.names` is `upstream`, otherwise none.
   */
  readonly compat?: readonly Compatibility[];
  /** `upstream` is short for both of `compat`, and `neutral` for none. */
  readonly names?: Vocabulary;
};

/** A server whose existing clients can be served. */
export type Compatibility = 'nomad' | 'terraform';

/**
 * Both interfaces of the engine as one function from request to response. `nodeListener` and `fetchHandler` connect it to servers,
 * `upgradeListener` connects its WebSockets. Throws a TypeError if the options do not choose who may call, or contain unknown names or
 * mistyped values.
 */
export function createHttpHandler(engine: Engine, options: HttpHandlerOptions): UpgradeHandler {
  checkArgument('createHttpHandler', 'engine', engine, port('an engine', 'start', 'stop', 'perform'));
  checkOptions('createHttpHandler', options, table);
  const { names = engine.settings.notifications.names, compat, ...rest } = options;
  if (compat !== undefined && options.names !== undefined) {
    throw new TypeError('createHttpHandler: the option names has no effect beside compat: give one of them');
  }
  const served: readonly Compatibility[] = compat ?? (names === 'upstream' ? compatibilities : []);
  const isForTerraform = served.includes('terraform');
  const isForNomad = served.includes('nomad');
  const routes = isForTerraform ? [...introduced(routeTable), discoveryRoute] : routeTable;
  const dialects = {
    jobs: isForNomad ? nomad : neutral,
    deliveryResponses: isForTerraform ? deliveryResponses : undefined,
  };
  return handlerOver(isForNomad ? [...routes, ...nomadRoutes] : routes, engine, rest, dialects);
}

const compatibilities = ['nomad', 'terraform'] as const;

const table: OptionTable<Record<keyof HttpHandlerOptions, unknown>> = {
  ...optionTable,
  compat: optional(listOf(oneOf(...compatibilities))),
  names: optional(oneOf('neutral', 'upstream')),
};
