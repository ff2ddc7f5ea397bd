// One job of qtkeychain, as Qt programs (Nextcloud's client, KDE's) do them.
//
//     qtkeychain write|write-bytes|read|read-bytes|delete SERVICE KEY
//
// What is written comes from standard input; what is read goes to standard output. Status:
// the error's number (QKeychain::Error, 0: none), its text on standard error.

#include <cstdio>

#include <QCoreApplication>
#include <QFile>
#include <QTextStream>
#include <qt5keychain/keychain.h>

using namespace QKeychain;

static QByteArray input()
{
    QFile file;
    (void)file.open(stdin, QIODevice::ReadOnly);
    return file.readAll();
}

static void end(Job *job)
{
    if (job->error()) QTextStream(stderr) << job->errorString() << "\n";
    auto *read = qobject_cast<ReadPasswordJob *>(job);
    if (read && !job->error()) {
        const QByteArray got = job->objectName() == "read" ? read->textData().toUtf8() : read->binaryData();
        std::fwrite(got.constData(), 1, size_t(got.size()), stdout);
    }
    QCoreApplication::exit(int(job->error()));
}

static Job *job(const QString &verb, const QString &service)
{
    if (verb == "delete") return new DeletePasswordJob(service);
    if (verb.startsWith("read")) return new ReadPasswordJob(service);
    auto *write = new WritePasswordJob(service);
    if (verb == "write") write->setTextData(QString::fromUtf8(input()));
    else write->setBinaryData(input());
    return write;
}

int main(int count, char **arguments)
{
    QCoreApplication application(count, arguments);
    const QStringList words = application.arguments();
    if (words.size() != 4) return 2;
    Job *made = job(words[1], words[2]);
    made->setObjectName(words[1]);
    made->setKey(words[3]);
    // Nothing in the clear where no keychain answers.
    made->setInsecureFallback(false);
    made->setAutoDelete(false);
    QObject::connect(made, &Job::finished, end);
    made->start();
    return application.exec();
}
