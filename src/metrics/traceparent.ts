/** `version-traceid-spanid-flags` of W3C Trace Context; later versions may add members after another dash. */
const spelling = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/;
/** Of a later version, which may say more. */
const longest = 256;

/** Recorded by the caller; the trace id is random. */
const knownFlags = 0x03;

/** What a `traceparent` says. */
interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span that caused what follows. */
  readonly spanId: string;
  /** Bit 0: the caller may have recorded the trace. */
  readonly flags: number;
}

/** The parts of a `traceparent`; undefined for anything else, as the specification wants it ignored. */
export function parseTraceparent(text: string): TraceParent | undefined {
  const found = text.length > longest ? null : spelling.exec(text);
  if (found === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = found;
  const isVersion = version !== 'ff' && (version !== '00' || more === undefined);
  const isSpan = !/^0+$/.test(traceId) && !/^0+$/.test(spanId);
  return isVersion && isSpan ? { traceId, spanId, flags: Number.parseInt(flags, 16) & knownFlags } : undefined;
}

/** In the form of version 00, whatever version it came in. */
export function printTraceparent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

/** The same trace in the form of version 00; undefined for what is none. */
export function cleanTraceparent(text: string | undefined): string | undefined {
  const parsed = text === undefined ? undefined : parseTraceparent(text);
  return parsed === undefined ? undefined : printTraceparent(parsed);
}
