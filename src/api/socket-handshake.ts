import { jsonFaultText, jsonValueEnd, wrongJsonType } from '../shared/json-scan.js';
import { isRecord, noBooleanText, parseBoolean } from '../shared/values.js';

/** Whether the first message of a socket is a handshake, by the parameter `ws_handshake`; or why its value is invalid. */
export function isHandshakeAnnounced(text = ''): boolean | { readonly fault: string } {
  const announced = text === '' ? false : parseBoolean(text);
  return announced ?? { fault: noBooleanText('ws_handshake', text) };
}

/**
 * The token of a handshake message, `{"version":1,"auth_token":"…"}`, or why the message is invalid. An empty string means no token.
 * Names are case-insensitive, null means absent, and anything after the first JSON value is ignored.
 */
export function tokenOfHandshake(message: string): string | { readonly fault: string } {
  const end = jsonValueEnd(message);
  if (typeof end !== 'number') return { fault: jsonFaultText(message, end, 'unexpected EOF') };
  const value: unknown = JSON.parse(message.slice(0, end));
  if (value !== null && !isRecord(value)) {
    return { fault: wrongJsonType(value, 'value of type agent.wsHandshakeMessage') };
  }
  let version = 0;
  let token = '';
  for (const [key, member] of Object.entries(value ?? {})) {
    const name = key.toLowerCase();
    const fault = memberFault(name, member);
    if (fault !== undefined) return { fault };
    if (name === 'version') version = (member as number | null) ?? version;
    if (name === 'auth_token') token = (member as string | null) ?? token;
  }
  return version === 1 ? token : { fault: `unexpected handshake value: ${version}` };
}

function memberFault(name: string, member: unknown): string | undefined {
  if (member === null) return undefined;
  if (name === 'version' && !Number.isSafeInteger(member)) {
    return wrongJsonType(member, 'struct field wsHandshakeMessage.version of type int');
  }
  if (name === 'auth_token' && typeof member !== 'string') {
    return wrongJsonType(member, 'struct field wsHandshakeMessage.auth_token of type string');
  }
  return undefined;
}
