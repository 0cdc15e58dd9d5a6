import type { HttpDelivery } from '../../src/ports/index.js';
import { messageOf } from '../../src/shared/values.js';
import { undiciDelivery, undiciDownload } from '../undici/index.js';
import type { OutboundOptions } from './serve/serve-options.js';
import { Stopped } from './stopped.js';
import { readTextFile } from './terminal.js';

/** Clients for outbound requests: notifications and artifacts, under the same rules. `hint` ends messages about refused addresses. */
export async function outboundFrom(
  outbound: OutboundOptions,
  hint: string,
): Promise<{ readonly delivery: HttpDelivery; readonly download: ReturnType<typeof undiciDownload> }> {
  const { cidrs, hosts, httpsOnly, forbiddenPorts, caFile, proxy } = outbound;
  const ca = caFile === null ? null : await readTextFile(caFile);
  try {
    const settings = {
      allow: { cidrs, hosts },
      hint,
      httpsOnly,
      forbiddenPorts,
      ...(ca === null ? {} : { ca }),
      ...(proxy === null ? {} : { proxy }),
    };
    return { delivery: undiciDelivery(settings), download: undiciDownload(settings) };
  } catch (error) {
    throw new Stopped(`allowOutbound, forbiddenPorts, caFile or proxy: ${messageOf(error)}`, 2);
  }
}
