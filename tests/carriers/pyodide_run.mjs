// Runs main.py in Pyodide. Arguments: folder of the pyodide package, folder with main.py, xlwings.py and calls.json, and a wheel to install if any.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packageFolder, folder, wheel] = process.argv.slice(2);
globalThis.fetch = () => { throw new Error("a network call was made"); };
const { loadPyodide } = await import(pathToFileURL(join(packageFolder, "pyodide.mjs")).href);
const start = performance.now();
const pyodide = await loadPyodide();
const started = (performance.now() - start) / 1000;
if (wheel) {
    const extractDir = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
    pyodide.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel", { extractDir });  // a Buffer is refused
}
pyodide.FS.mkdir("/project");
for (const name of ["main.py", "xlwings.py"]) pyodide.FS.writeFile(`/project/${name}`, readFileSync(join(folder, name), "utf8"));
pyodide.globals.set("text", readFileSync(join(folder, "calls.json"), "utf8"));
const out = pyodide.runPython("import sys; sys.path.insert(0, '/project'); import xlwings; xlwings.run(text)");
writeFileSync(join(folder, "answers.json"), JSON.stringify({ started, ...JSON.parse(out) }));
