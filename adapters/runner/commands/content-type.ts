import { openToRead } from '../disk/text-file.js';

/** How many bytes of a file determine its type. */
const sniffedBytes = 512;
const unknown = 'application/octet-stream';

/** The media type of a file by its first bytes; `application/octet-stream` if it is unreadable, empty or not a regular file. */
export async function contentTypeOf(file: string, isFile: boolean): Promise<string> {
  if (file.endsWith('.json')) return 'application/json';
  if (!isFile) return unknown;
  try {
    const handle = await openToRead(file);
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(sniffedBytes), 0, sniffedBytes, 0);
      return bytesRead === 0 ? unknown : contentTypeOfBytes(buffer.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch {
    return unknown;
  }
}

/** Prefixes and their types; the first match counts. */
const signatures: readonly (readonly [beginning: string, type: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  ['\xfe\xff', 'text/plain; charset=utf-16be'],
  ['\xff\xfe', 'text/plain; charset=utf-16le'],
  ['\xef\xbb\xbf', 'text/plain; charset=utf-8'],
  ['\0\0\x01\0', 'image/x-icon'],
  ['\0\0\x02\0', 'image/x-icon'],
  ['BM', 'image/bmp'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['ID3', 'audio/mpeg'],
  ['OggS\0', 'application/ogg'],
  ['\x1aE\xdf\xa3', 'video/webm'],
  ['\0asm', 'application/wasm'],
  ['\x1f\x8b\x08', 'application/x-gzip'],
  ['PK\x03\x04', 'application/zip'],
  ['Rar!\x1a\x07\0', 'application/x-rar-compressed'],
  ['Rar!\x1a\x07\x01\0', 'application/x-rar-compressed'],
];
const html =
  /^(?:<!doctype html|<html|<head|<script|<iframe|<h1|<div|<font|<table|<a|<style|<title|<b|<body|<br|<p)[ >]|^<!--/i;

/** The MIME sniffing algorithm of browsers, without audio and fonts in containers. */
export function contentTypeOfBytes(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  const begun = text.replace(/^[\t\n\f\r ]+/, '');
  if (html.test(begun)) return 'text/html; charset=utf-8';
  if (begun.startsWith('<?xml')) return 'text/xml; charset=utf-8';
  const known = signatures.find(([beginning]) => text.startsWith(beginning));
  if (known !== undefined) return known[1];
  return /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(text) ? unknown : 'text/plain; charset=utf-8';
}
