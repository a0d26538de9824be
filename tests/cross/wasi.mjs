// Runs onnxport.wasm with the WebAssembly system interface of Node: node wasi.mjs PROGRAM.wasm ARGUMENT... Paths are absolute: there is
// no current folder in there.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [program, ...rest] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1', args: ['onnxport', ...rest], env: process.env, preopens: { '/': '/' }, returnOnExit: true,
});
const instance = await WebAssembly.instantiate(await WebAssembly.compile(await readFile(program)), wasi.getImportObject());
process.exitCode = wasi.start(instance);
